import type { Tier } from '../agents/key.ts';
import type { AgentId, DeliveryId, PersonId } from '../ids.ts';
import type { Micros } from '../time.ts';
import type { Decision, DecisionState } from './decision/decision.ts';
import type { Delivery, DeliveryType, Section, Status, Verdict } from './delivery.ts';

export type ListQuery = {
  section: Section;
  agent?: AgentId | undefined;
  after?: { sectionAt: number; seq: number } | undefined;
  limit: number;
};

/** The deliveries of a thread that came before one place in the ledger, or after it: the nearest first. */
export type ThreadQuery = {
  agent: AgentId;
  thread: string;
  side: 'before' | 'after';
  seq: number;
  limit: number;
};

/** Newest first, over all sections unless one is named. */
export type FindQuery = {
  /** Keyed hashes; all of them must be there. */
  words: readonly string[];
  section?: Section | undefined;
  agent?: AgentId | undefined;
  type?: DeliveryType | undefined;
  /** From this place in the ledger, up to and without the next one. */
  from: number;
  before: number;
  limit: number;
};

export interface DeliveryRows {
  /** A new id for the delivery at this place of the ledger: random to everybody but the store (W6). */
  idAt(seq: number): Promise<DeliveryId>;
  insert(delivery: Delivery, body: Uint8Array): Promise<void>;
  get(id: DeliveryId): Promise<Delivery | null>;
  /** What a callback must know of it. */
  tier(id: DeliveryId): Promise<Tier | null>;
  /** The body as it was delivered. */
  body(id: DeliveryId): Promise<Uint8Array | null>;
  /** What its agent may see when it polls, in one query. */
  polled(id: DeliveryId): Promise<PolledRow | null>;
  /** The newest that waits: a revision stands beside what it revises while that is held. */
  pendingByDedupeKey(agent: AgentId, dedupeKey: string): Promise<Delivery | null>;
  /** Writes everything about a delivery that can change. */
  update(delivery: Delivery): Promise<void>;
  answer(delivery: Delivery, response: Uint8Array): Promise<void>;
  /** One status of a sweep, oldest change first. */
  changed(agent: AgentId, status: Status, since: Micros, limit: number): Promise<ChangedRow[]>;
  countChanged(agent: AgentId, status: Status, since: Micros): Promise<number>;
  list(query: ListQuery): Promise<Delivery[]>;
  ofThread(query: ThreadQuery): Promise<Delivery[]>;
  /** Stops at `limit`. */
  countOfThread(query: ThreadQuery): Promise<number>;
  deleteAnsweredBefore(before: Micros, limit: number): Promise<number>;
}

/** What a sweep needs of a delivery, and nothing more. */
export type ChangedRow = Pick<Delivery, 'id' | 'status' | 'changedAt' | 'timeoutAt'> & {
  /** The bytes of the answer, once there is one. */
  response: Uint8Array | null;
};

export type PolledRow = ChangedRow & Pick<Delivery, 'agent'>;

export type HistoryQuery = {
  agent?: AgentId | undefined;
  verdict?: Verdict | undefined;
  /** Without those that were undone. */
  standing?: boolean | undefined;
  from?: number | undefined;
  before?: number | undefined;
  limit: number;
};

export interface DecisionRows {
  insert(decision: Decision, answer: Uint8Array): Promise<void>;
  /** The latest decision on a delivery, undone ones left out. */
  current(delivery: DeliveryId): Promise<Decision | null>;
  /** All of them, undone ones too, oldest first. */
  of(delivery: DeliveryId): Promise<Decision[]>;
  answer(seq: number): Promise<Uint8Array | null>;
  setState(seq: number, state: DecisionState): Promise<void>;
  history(query: HistoryQuery): Promise<Decision[]>;
}

export type IdempotencyRecord = {
  agent: AgentId;
  key: string;
  bodyHash: string;
  delivery: DeliveryId;
  /** The answer was that of an earlier delivery with the same `dedupe_key`. */
  isDeduplicated: boolean;
  createdAt: Micros;
  expiresAt: Micros;
};

export interface IdempotencyRows {
  get(agent: AgentId, key: string, now: Micros): Promise<IdempotencyRecord | null>;
  put(record: IdempotencyRecord): Promise<void>;
  deleteExpired(now: Micros, limit: number): Promise<number>;
}

export interface DraftRows {
  get(delivery: DeliveryId, person: PersonId): Promise<{ sealed: Uint8Array; savedAt: Micros } | null>;
  put(delivery: DeliveryId, person: PersonId, sealed: Uint8Array, at: Micros): Promise<void>;
  remove(delivery: DeliveryId, person: PersonId): Promise<void>;
  /** Removes every person's draft, once the delivery is decided. */
  removeOn(delivery: DeliveryId): Promise<void>;
  /** Removes all drafts of a person who leaves. */
  removeBy(person: PersonId): Promise<void>;
}

/** The index of words, and what is found by it. */
export interface SearchRows {
  /** Safe to repeat: the indexer does so after a crash. */
  add(word: string, seq: number): Promise<void>;
  count(word: string, most: number): Promise<number>;
  find(query: FindQuery): Promise<Delivery[]>;
  /** The first place that a walk over `most` deliveries does not reach, counting those that have this word, or all. */
  walkEnd(
    word: string | null,
    range: Pick<FindQuery, 'from' | 'before'>,
    most: number,
  ): Promise<number | null>;
}

/** Numbers for the desk. Each count stops at `most`, so that no query costs more than its answer is worth. */
export interface CountRows {
  /** What waits in a section, by type. */
  waitingIn(section: Section, most: number): Promise<ReadonlyMap<DeliveryType, number>>;
  /** What waits of one agent. */
  waitingOf(agent: AgentId, most: number): Promise<number>;
  deliveries(most: number): Promise<number>;
  deliveredBetween(from: number, before: number, most: number): Promise<ReadonlyMap<DeliveryType, number>>;
  decidedBetween(from: number, before: number, most: number): Promise<ReadonlyMap<Verdict, number>>;
  answered(agent: AgentId, from: number, most: number): Promise<number>;
  /** From delivery to decision, of the newest `most` that took effect. */
  answerTimes(query: {
    agent?: AgentId | undefined;
    from: number;
    before: number;
    most: number;
  }): Promise<Micros[]>;
  /** Callbacks among the agent's newest `most` that have failed and not succeeded since. */
  failingCallbacks(agent: AgentId, most: number): Promise<number>;
}

/** What a transaction offers about deliveries. */
export interface DeliveryTx {
  readonly deliveries: DeliveryRows;
  readonly decisions: DecisionRows;
  readonly idempotency: IdempotencyRows;
  readonly drafts: DraftRows;
  readonly search: SearchRows;
  readonly counts: CountRows;
}
