import type {
  DeliveryState,
  DeliveryType,
  Section,
  Status,
  Verdict,
} from '../../core/deliveries/delivery.ts';
import { HOUR, type Micros, SECOND, toIso } from '../../core/time.ts';

/** The desk as somebody would explain it: a list of deliveries, and a note for every change. */
export type Item = {
  id: string;
  agent: string;
  type: DeliveryType;
  hash: string;
  dedupeKey: string | null;
  state: DeliveryState;
  timeoutAt: Micros | null;
  /** When it last changed for its agent: created, answered or withdrawn. */
  stamp: Micros;
  status: Status;
  /** The answer as the agent reads it; null while it sees none. */
  answer: string | null;
  held: { verdict: Verdict; feedback: string | null; effectAt: Micros } | null;
  read: boolean;
  snoozedUntil: Micros | null;
  /** What has taken its place. */
  supersededBy: Item | null;
};

/** What an agent hands in, as far as the model minds. */
type Handed = Pick<Item, 'id' | 'agent' | 'type' | 'hash' | 'dedupeKey'> & { timeoutSeconds: number | null };

/** What an Idempotency-Key stands for. */
type Remembered = { id: string; hash: string; isTwin: boolean };

export const WINDOW: Micros = 10 * SECOND;

export class DeskModel {
  now: Micros;
  readonly items: Item[] = [];
  /** What was done, by its name in the ledger. */
  readonly done = new Map<string, number>();
  readonly known = new Set<string>();
  readonly idempotent = new Map<string, Remembered & { until: Micros }>();
  /** Per agent: the last stamp, how far its sweep has come, and the answers it has collected there. */
  readonly last = new Map<string, Micros>();
  readonly since = new Map<string, Micros>();
  readonly collected = new Map<string, string>();

  constructor(now: Micros) {
    this.now = now;
  }

  note(action: string): void {
    this.done.set(action, (this.done.get(action) ?? 0) + 1);
  }

  /** Unique and increasing, whatever the clock does; never behind what was handed out (L3). */
  stamp(agent: string): Micros {
    const at = Math.max(this.now, (this.last.get(agent) ?? 0) + 1);
    if (at <= (this.since.get(agent) ?? -1)) throw new Error('a change behind a since that was handed out');
    this.last.set(agent, at);
    return at;
  }

  accept({ timeoutSeconds, ...item }: Handed, revises: Item | null): void {
    this.note('delivery.accepted');
    const stamp = this.stamp(item.agent);
    const timeoutAt = timeoutSeconds === null ? null : stamp + timeoutSeconds * SECOND;
    const open = { state: 'pending' as const, status: 'pending' as const, answer: null, held: null };
    const made: Item = {
      ...item,
      ...open,
      stamp,
      timeoutAt,
      read: false,
      snoozedUntil: null,
      supersededBy: null,
    };
    this.items.push(made);
    if (revises === null) return;
    revises.supersededBy = made;
    if (revises.state === 'pending') Object.assign(revises, { state: 'superseded', snoozedUntil: null });
  }

  /** Whichever version an agent names, the newest one is meant. */
  newest(item: Item): Item {
    return item.supersededBy === null ? item : this.newest(item.supersededBy);
  }

  remember(key: string, answered: Remembered): void {
    this.idempotent.set(key, { ...answered, until: this.now + 24 * HOUR });
  }

  remembered(key: string): Remembered | null {
    const found = this.idempotent.get(key);
    return found === undefined || found.until <= this.now ? null : found;
  }

  duplicateOf(agent: string, dedupeKey: string): Item | undefined {
    const open = (item: Item) => item.state === 'pending' || item.state === 'held';
    // The newest: a revision may stand beside what it revises while that is held.
    return this.items.findLast((i) => i.agent === agent && i.dedupeKey === dedupeKey && open(i));
  }

  hold(item: Item, verdict: Verdict, feedback: string | null): void {
    this.note('decision.held');
    this.known.add(item.agent);
    item.state = 'held';
    item.snoozedUntil = null;
    item.held = { verdict, feedback, effectAt: this.now + WINDOW };
  }

  undo(item: Item): void {
    this.note('decision.undone');
    // A revision that came meanwhile has its place.
    Object.assign(item, { state: item.supersededBy === null ? 'pending' : 'superseded', held: null });
  }

  withdraw(item: Item, reason: string): void {
    this.note('delivery.withdrawn');
    const stamp = this.stamp(item.agent);
    const feedback = `Withdrawn by the agent: ${reason}`;
    const answer = answerText(item.id, { status: 'rejected', feedback, at: stamp, withdrawnAt: stamp });
    Object.assign(item, {
      state: 'withdrawn',
      held: null,
      snoozedUntil: null,
      status: 'rejected',
      stamp,
      answer,
    });
  }

  read(item: Item): void {
    if (item.read) return;
    this.note('delivery.read');
    this.known.add(item.agent);
    item.read = true;
    if (item.state === 'pending' && asksNothing(item)) item.snoozedUntil = null;
  }

  snooze(item: Item, until: Micros | null): void {
    this.note('delivery.snoozed');
    item.snoozedUntil = until;
  }

  /** What the clock brings about: first held decisions, earliest first, then what was snoozed. */
  tick(): void {
    const due = this.items
      .filter((item) => item.held !== null && item.held.effectAt <= this.now)
      .sort((a, b) => (a.held?.effectAt ?? 0) - (b.held?.effectAt ?? 0));
    for (const item of due) this.#takeEffect(item);
    for (const item of this.items) {
      if (item.snoozedUntil === null || item.snoozedUntil > this.now) continue;
      this.note('delivery.returned');
      item.snoozedUntil = null;
    }
  }

  #takeEffect(item: Item): void {
    if (item.held === null) return;
    this.note('decision.effective');
    const { verdict, feedback } = item.held;
    const stamp = this.stamp(item.agent);
    const answer = answerText(item.id, { status: verdict, feedback, at: stamp });
    Object.assign(item, { state: 'decided', held: null, snoozedUntil: null, status: verdict, stamp, answer });
  }

  /** What the agent is shown of one delivery: a held decision looks like none (L4). */
  seen(item: Item): string {
    if (item.answer !== null) return item.answer;
    const isOver = item.timeoutAt !== null && item.timeoutAt <= this.now;
    const timedOutAt = isOver ? item.timeoutAt : null;
    return answerText(item.id, { status: 'pending', feedback: null, at: null, timedOutAt });
  }

  changed(agent: string, since: Micros): Item[] {
    return this.items.filter((i) => i.agent === agent && i.stamp > since).sort((a, b) => a.stamp - b.stamp);
  }

  /** Null where several places are right: a held one stays where it was. */
  section(item: Item): Section | null {
    if (item.state === 'held') return null;
    if (item.state !== 'pending') return 'earlier';
    if (item.snoozedUntil !== null) return 'snoozed';
    if (item.read && asksNothing(item)) return 'earlier';
    if (!this.known.has(item.agent)) return 'new_agents';
    if (item.type === 'alert') return 'alerts';
    return item.type === 'update' ? 'to_read' : 'needs_you';
  }
}

/** In the order of the desk: due first where something is asked, otherwise as they came. */
export function inOrder(section: Section, items: readonly Item[]): Item[] {
  const isDue = section === 'needs_you' || section === 'new_agents';
  const place = ({ timeoutAt, snoozedUntil, stamp }: Item): [number, number] => {
    if (section === 'snoozed') return [snoozedUntil ?? 0, stamp];
    return isDue && timeoutAt !== null ? [0, timeoutAt] : [1, stamp];
  };
  return [...items].sort((a, b) => {
    const [[group, at], [otherGroup, otherAt]] = [place(a), place(b)];
    return group - otherGroup || at - otherAt;
  });
}

function asksNothing({ type }: Item): boolean {
  return type === 'update' || type === 'alert';
}

function answerText(
  id: string,
  answer: {
    status: Status;
    feedback: string | null;
    at: Micros | null;
    withdrawnAt?: Micros;
    timedOutAt?: Micros | null;
  },
): string {
  return JSON.stringify({
    delivery_id: id,
    status: answer.status,
    feedback: answer.feedback,
    edited_content: null,
    responded_at: answer.at === null ? null : toIso(answer.at),
    ...(answer.withdrawnAt === undefined ? {} : { withdrawn_at: toIso(answer.withdrawnAt) }),
    ...(answer.timedOutAt ? { timed_out_at: toIso(answer.timedOutAt) } : {}),
  });
}
