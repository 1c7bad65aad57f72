import type { Verdict } from '../api/types.ts';

/** A decision of this person that has not gone out yet. `endsAt` is in this browser's clock, and errs on the early side. */
export type Held = { id: string; headline: string; verdict: Verdict; endsAt: number };
export type Notice = { id: number; text: string; delivery?: string };

type State = { held: readonly Held[]; notices: readonly Notice[] };

const NOTICE_MS = 12_000;
let state: State = { held: [], notices: [] };
let counter = 0;
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const tell of listeners) tell();
}

/** What the line at the foot of the desk says: decisions on their way, and what went wrong. */
export const foot = {
  get: () => state,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  hold: (held: Held) => {
    change({ held: [...state.held.filter((other) => other.id !== held.id), held] });
    setTimeout(() => foot.release(held.id, held.endsAt), Math.max(0, held.endsAt - Date.now()) + 300);
  },
  release: (id: string, endsAt?: number) =>
    change({
      held: state.held.filter((held) => held.id !== id || (endsAt !== undefined && held.endsAt !== endsAt)),
    }),
  say: (text: string, delivery?: string) => {
    const id = ++counter;
    change({
      notices: [...state.notices.slice(-2), { id, text, ...(delivery === undefined ? {} : { delivery }) }],
    });
    // What concerns an answer stays until it is closed: somebody's words hang on it.
    if (delivery === undefined) setTimeout(() => foot.close(id), NOTICE_MS);
  },
  close: (id: number) => change({ notices: state.notices.filter((notice) => notice.id !== id) }),
};
