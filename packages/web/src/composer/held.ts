import type { HeldDecision, Verdict } from '../api/types.ts';
import { serverNow } from '../live/clock.ts';

/** A decision of this person that has not been sent yet. `endsAt` is on the server's clock. */
export type Held = {
  id: string;
  headline: string;
  verdict: Verdict;
  endsAt: number;
  /** Whether the server has confirmed it; before that, only this page knows of it. */
  isSure: boolean;
  /** Whether it is being undone. */
  isLeaving: boolean;
  /** Counted together with the notices: the higher number came later. */
  count: number;
};
export type Notice = {
  id: number;
  text: string;
  /** What it leads to. */
  delivery?: string;
  /** The agent's wording inside the text, in quotation marks. */
  headline?: string;
  /** It leads to what the person wrote, so it stays until it is closed. */
  stays?: boolean;
  /** Takes back what it tells of. */
  undo?: () => void;
};
type About = Pick<Notice, 'delivery' | 'headline' | 'stays' | 'undo'>;

type State = { held: readonly Held[]; notices: readonly Notice[] };

const NOTICE_MS = 12_000;
const LINGER_MS = 300;
const NOTHING: State = { held: [], notices: [] };
let state = NOTHING;
let counter = 0;
let prune: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  clearTimeout(prune);
  if (state.held.some(({ isSure }) => isSure)) {
    // A decision that the server has not confirmed stays until the server has answered.
    const first = Math.min(...state.held.flatMap(({ endsAt, isSure }) => (isSure ? [endsAt] : [])));
    prune = setTimeout(dropEnded, Math.max(0, first - serverNow()) + LINGER_MS);
  }
  for (const tell of listeners) tell();
}

function dropEnded(): void {
  const now = serverNow();
  change({ held: state.held.filter(({ endsAt, isSure }) => !isSure || endsAt > now) });
}

const replace = (id: string, next: Partial<Held>) =>
  change({ held: state.held.map((held) => (held.id === id ? { ...held, ...next } : held)) });

/** What the line at the foot of the desk says: decisions on their way, and what went wrong. */
export const foot = {
  get: () => state,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  /** Shows the decision as the person made it, before the server has answered. */
  hold: (held: Pick<Held, 'id' | 'headline' | 'verdict' | 'endsAt'>) =>
    change({
      held: [
        ...state.held.filter((other) => other.id !== held.id),
        { ...held, isSure: false, isLeaving: false, count: ++counter },
      ],
    }),
  /** The server has the decision, and holds it until `effectAt`. */
  confirm: (id: string, effectAt: string | null) =>
    replace(id, { isSure: true, ...(effectAt === null ? {} : { endsAt: Date.parse(effectAt) }) }),
  leave: (id: string, isLeaving: boolean) => replace(id, { isLeaving }),
  release: (id: string) => change({ held: state.held.filter((held) => held.id !== id) }),
  /**
   * Takes over what the server holds for this person, so that it is shown after a reload and in all their browsers.
   */
  adopt: (theirs: readonly HeldDecision[]) => {
    const shown = new Map(state.held.map((held) => [held.id, held]));
    const sure = theirs.map(({ delivery_id: id, headline, status: verdict, effect_at }) => ({
      id,
      headline,
      verdict,
      endsAt: Date.parse(effect_at),
      isSure: true,
      isLeaving: shown.get(id)?.isLeaving ?? false,
      count: shown.get(id)?.count ?? ++counter,
    }));
    const known = new Set(sure.map(({ id }) => id));
    const now = serverNow();
    const unsure = state.held.filter((held) => !held.isSure && !known.has(held.id));
    change({ held: [...sure.filter(({ endsAt }) => endsAt > now), ...unsure] });
  },
  say: (text: string, about: About = {}) => {
    const id = ++counter;
    change({ notices: [...state.notices.slice(-2), { id, text, ...about }] });
    if (about.stays !== true) setTimeout(() => foot.close(id), NOTICE_MS);
  },
  close: (id: number) => change({ notices: state.notices.filter((notice) => notice.id !== id) }),
  clear: () => change(NOTHING),
};

/** The notice whose undoing the key means; undefined where a decision that is still held came later, or there is none. */
export function undoneFirst({ held, notices }: State): Notice | undefined {
  const last = Math.max(0, ...held.flatMap(({ isLeaving, count }) => (isLeaving ? [] : [count])));
  return notices.findLast(({ id, undo }) => undo !== undefined && id > last);
}
