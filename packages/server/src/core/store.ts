import type { Agent, CallbackSecret } from './agents/agent.ts';
import type { Identity, KeyRecord, Tier } from './agents/key.ts';
import type { Decision, DecisionState } from './deliveries/decision.ts';
import type { Delivery, DeliveryType, Section, Status, Verdict } from './deliveries/delivery.ts';
import type { EventDirectory, EventTx } from './events/store.ts';
import type { AgentId, DeliveryId, JobId, KeyId, PersonId, SpaceId } from './ids.ts';
import type { Checkpoint, LedgerLine } from './ledger/ledger.ts';
import type { LeftoverRows } from './leftovers.ts';
import type { Invitation } from './people/invitation.ts';
import type { PasskeyRecord } from './people/passkey.ts';
import type { Person, Role, SessionRecord, TokenRecord } from './people/person.ts';
import type { Reset } from './people/reset.ts';
import type { SealedRows } from './resealing.ts';
import type { Attempt, Job, JobState } from './sending/job.ts';
import type { DeadlineRows } from './set-back.ts';
import type { TaskDirectory, TaskTx } from './tasks/store.ts';
import type { Micros } from './time.ts';

/**
 * What the core needs of a store. A store is opened on one space at a time, so no query can reach into another;
 * the few look-ups that must find the space first are `Directory`.
 */
export interface Store {
  readonly directory: Directory;
  read<T>(space: SpaceId, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction and answers after the commit is on disk. Units that arrive together share one
   * commit. `work` may run again after a failed batch, so it must touch nothing but `tx`; returning a fault after
   * having written something is a bug and rolls back. `heads` names the head rows it needs: they are locked first.
   */
  write<T>(space: SpaceId, heads: readonly HeadName[], work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** One row that every write of a kind passes through: the ledger's end, an agent's last stamp, a key's bucket. */
export type Head = { readonly n: number; readonly at: number; readonly text: string };
export type HeadName =
  | 'ledger'
  | 'vault'
  | 'kept-secrets'
  | 'setup'
  | 'indexed'
  | 'signing'
  | 'moved'
  | `agent:${string}`
  | `rate:${string}`
  | `login:${string}`
  | 'subscriptions'
  | `inbox:${string}`
  | `resumes:${string}`
  | `subject:${string}`
  | `frames:${string}`;

/** Heads that belong to the server and not to a tenant are kept under this name. */
export const SERVER: SpaceId = '';

export interface Heads {
  get(name: HeadName): Promise<Head | null>;
  set(name: HeadName, head: Head): void;
}

export interface Tx extends EventTx, TaskTx {
  readonly space: SpaceId;
  readonly heads: Heads;
  readonly spaces: SpaceRows;
  readonly people: PersonRows;
  readonly agents: AgentRows;
  readonly keys: KeyRows;
  readonly deliveries: DeliveryRows;
  readonly decisions: DecisionRows;
  readonly idempotency: IdempotencyRows;
  readonly jobs: JobRows;
  readonly ledger: LedgerRows;
  readonly preferences: PreferenceRows;
  readonly drafts: DraftRows;
  readonly invitations: InvitationRows;
  readonly passkeys: PasskeyRows;
  readonly resets: ResetRows;
  readonly search: SearchRows;
  readonly counts: CountRows;
  readonly leftovers: LeftoverRows;
  readonly deadlines: DeadlineRows;
  readonly sealed: SealedRows;
  /** Told to listeners after the commit, never before; `about` names the thing that changed. */
  announce(topic: Topic, about?: string): void;
}

export type Topic =
  | `task:${string}`
  | `frames:${string}`
  | `inbox:${string}`
  | `answer:${string}`
  | `desk:${string}`
  | 'jobs'
  | 'held';

/** What a batch announced: each topic with the things it was about. */
export type News = ReadonlyMap<Topic, ReadonlySet<string>>;

export interface Directory extends EventDirectory, TaskDirectory {
  identityByDigest(digest: string): Promise<Identity | null>;
  sessionByDigest(digest: string): Promise<SessionRecord | null>;
  tokenByDigest(digest: string): Promise<TokenRecord | null>;
  peopleByEmail(email: string): Promise<Person[]>;
  invitationByDigest(digest: string): Promise<Invitation | null>;
  passkeyByDigest(digest: string): Promise<PasskeyRecord | null>;
  resetByDigest(digest: string): Promise<Reset | null>;
  /** People whose next digest is due. */
  digestsDue(before: Micros, limit: number): Promise<{ space: SpaceId; person: PersonId }[]>;
  spaces(): Promise<Space[]>;
  spaceByHandle(handle: string): Promise<Space | null>;
  heldDue(
    before: Micros,
    limit: number,
  ): Promise<{ space: SpaceId; delivery: DeliveryId; effectAt: Micros }[]>;
  nextHeldAt(): Promise<Micros | null>;
  snoozedDue(before: Micros, limit: number): Promise<{ space: SpaceId; delivery: DeliveryId }[]>;
  /** Due and free, oldest first; receivers that have all hands full are passed over, so that they slow nobody else. */
  jobsDue(before: Micros, limit: number, busyOrigins: readonly string[]): Promise<Job[]>;
  nextJobAt(): Promise<Micros | null>;
}

export type Space = {
  id: SpaceId;
  handle: string;
  createdAt: Micros;
  /** Where callers may have pushes sent (A18); null for anywhere that the rules about addresses allow. */
  pushTargets: readonly string[] | null;
};

export interface SpaceRows {
  get(): Promise<Space | null>;
  insert(space: Space): Promise<void>;
  setPushTargets(targets: readonly string[] | null): Promise<void>;
}

export interface PersonRows {
  insert(person: Person): Promise<void>;
  get(id: PersonId): Promise<Person | null>;
  byEmail(email: string): Promise<Person | null>;
  list(): Promise<Person[]>;
  /** Null ends the password; a reset link or a passkey is then the way in. */
  setPassword(id: PersonId, passwordHash: string | null): Promise<void>;
  setRole(id: PersonId, role: Role): Promise<void>;
  /** Takes address and password away; the name stays, for the decisions it stands under. */
  remove(id: PersonId, at: Micros): Promise<void>;
  /** When the person last sat down at the desk. */
  satAt(id: PersonId): Promise<Micros | null>;
  setSatAt(id: PersonId, at: Micros): Promise<void>;
  listSessions(person: PersonId): Promise<SessionRecord[]>;
  insertSession(session: SessionRecord): Promise<void>;
  setProved(digest: string, at: Micros): Promise<void>;
  deleteSession(digest: string): Promise<number>;
  deleteSessionsOf(person: PersonId): Promise<number>;
  deleteExpiredSessions(now: Micros): Promise<number>;
  insertToken(token: TokenRecord): Promise<void>;
  listTokens(person: PersonId): Promise<TokenRecord[]>;
  revokeToken(id: string, at: Micros): Promise<number>;
}

export interface PasskeyRows {
  insert(passkey: PasskeyRecord): Promise<void>;
  of(person: PersonId): Promise<PasskeyRecord[]>;
  rename(id: string, name: string): Promise<void>;
  used(id: string, counter: number, at: Micros): Promise<void>;
  remove(id: string): Promise<void>;
  removeOf(person: PersonId): Promise<void>;
  /** Challenges that were answered, until they would have expired by themselves. */
  wasUsed(digest: string): Promise<boolean>;
  markUsed(digest: string, expiresAt: Micros): Promise<void>;
  forgetUsed(now: Micros): Promise<void>;
}

/** At most one for each person. */
export interface ResetRows {
  put(reset: Reset): Promise<void>;
  of(person: PersonId): Promise<Reset | null>;
  remove(person: PersonId): Promise<void>;
}

export interface AgentRows {
  insert(agent: Agent, secrets: readonly CallbackSecret[]): Promise<void>;
  get(id: AgentId): Promise<Agent | null>;
  list(): Promise<Agent[]>;
  accept(id: AgentId, at: Micros): Promise<void>;
  setCallbacks(id: AgentId, callbacks: readonly string[]): Promise<void>;
  secrets(id: AgentId): Promise<CallbackSecret[]>;
  setSecrets(id: AgentId, secrets: readonly CallbackSecret[]): Promise<void>;
  seen(id: AgentId, at: Micros): Promise<void>;
  /** Seen, and by a connection of its laptop. */
  connected(id: AgentId, at: Micros): Promise<void>;
  /** The agents that only show what the desk is for. */
  samples(): Promise<ReadonlySet<AgentId>>;
  /** With everything of it but its lines in the ledger. */
  remove(id: AgentId): Promise<void>;
}

export interface KeyRows {
  insert(key: KeyRecord): Promise<void>;
  list(agent: AgentId): Promise<KeyRecord[]>;
  /** Ends keys of an agent: those that would live longer get this end. */
  expireOthers(agent: AgentId, except: KeyId, at: Micros): Promise<number>;
  revoke(id: KeyId, at: Micros): Promise<number>;
}

export type ListQuery = {
  section: Section;
  agent?: AgentId | undefined;
  after?: { sectionAt: number; seq: number } | undefined;
  limit: number;
};

/** Newest first, over all sections unless one is named. */
export type FindQuery = {
  /** Keyed hashes; all of them must be there. */
  words: readonly string[];
  section?: Section | undefined;
  agent?: AgentId | undefined;
  type?: DeliveryType | undefined;
  /** From this place in the ledger, and before that one. */
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
  /** What its agent may ask for, in one look. */
  polled(id: DeliveryId): Promise<PolledRow | null>;
  pendingByDedupeKey(agent: AgentId, dedupeKey: string): Promise<Delivery | null>;
  /** Every change that `state`, `section` and their columns go through. */
  update(delivery: Delivery): Promise<void>;
  answer(delivery: Delivery, response: Uint8Array): Promise<void>;
  /** One status of a sweep, oldest change first. */
  changed(agent: AgentId, status: Status, since: Micros, limit: number): Promise<ChangedRow[]>;
  countChanged(agent: AgentId, status: Status, since: Micros): Promise<number>;
  list(query: ListQuery): Promise<Delivery[]>;
  /** The other open deliveries of an agent that was just accepted. */
  openOfNewAgent(agent: AgentId, limit: number): Promise<Delivery[]>;
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
  createdAt: Micros;
  expiresAt: Micros;
};

export interface IdempotencyRows {
  get(agent: AgentId, key: string, now: Micros): Promise<IdempotencyRecord | null>;
  put(record: IdempotencyRecord): Promise<void>;
  deleteExpired(now: Micros, limit: number): Promise<number>;
}

/** `subscription` for what is forwarded: its secret signs, and when it is gone nobody wants this any more. */
export type Request = { url: string; body: string; subscription?: string };

export interface JobRows {
  insert(job: Job, request: Request): Promise<void>;
  get(id: JobId): Promise<Job | null>;
  request(id: JobId): Promise<Request | null>;
  byDelivery(delivery: DeliveryId): Promise<Job[]>;
  /** Takes the lease if the job is still due and free, and gives out a new fence. False when somebody else was faster. */
  lease(id: JobId, expectedFence: number, now: Micros, until: Micros): Promise<boolean>;
  /** Written only while the fence still holds. */
  settle(
    id: JobId,
    fence: number,
    next: { state: JobState; dueAt: Micros; attempts: number },
  ): Promise<boolean>;
  /** By hand: due again at once, whatever became of it. */
  requeue(id: JobId, at: Micros): Promise<boolean>;
  release(id: JobId, fence: number): Promise<boolean>;
  /** The worker is still at it. False when the lease was lost meanwhile. */
  renew(id: JobId, fence: number, until: Micros): Promise<boolean>;
  insertAttempt(attempt: Attempt): Promise<void>;
  attempts(delivery: DeliveryId): Promise<Attempt[]>;
}

export type LedgerQuery = {
  /** A whole action (`decision.held`) or what stands before its dot (`decision`). */
  action?: string | undefined;
  subject?: string | undefined;
  from: number;
  before: number;
  limit: number;
};

export interface LedgerRows {
  insert(line: LedgerLine): Promise<void>;
  page(after: number, limit: number): Promise<LedgerLine[]>;
  newest(before: number, limit: number): Promise<LedgerLine[]>;
  /** The same among the lines from `from` on; the range bounds the work, whatever is asked for. */
  newestOf(query: LedgerQuery): Promise<LedgerLine[]>;
  /** When a line was written. */
  at(seq: number): Promise<Micros | null>;
  insertCheckpoint(checkpoint: Checkpoint): Promise<void>;
  setSignature(seq: number, signature: string): Promise<void>;
  checkpoints(): Promise<Checkpoint[]>;
  lastCheckpoint(): Promise<Checkpoint | null>;
}

/** What is kept of a person's preferences; the digest's address is sealed. */
export type StoredPreferences = { settings: string; target: Uint8Array | null; digestAt: Micros | null };

export interface PreferenceRows {
  get(person: PersonId): Promise<StoredPreferences | null>;
  put(person: PersonId, stored: StoredPreferences): Promise<void>;
  remove(person: PersonId): Promise<void>;
}

export interface DraftRows {
  get(delivery: DeliveryId, person: PersonId): Promise<{ sealed: Uint8Array; savedAt: Micros } | null>;
  put(delivery: DeliveryId, person: PersonId, sealed: Uint8Array, at: Micros): Promise<void>;
  remove(delivery: DeliveryId, person: PersonId): Promise<void>;
  /** Everybody's, once the delivery is decided. */
  removeOn(delivery: DeliveryId): Promise<void>;
  /** A person's, when they leave. */
  removeBy(person: PersonId): Promise<void>;
}

export interface InvitationRows {
  insert(invitation: Invitation): Promise<void>;
  /** Those that nobody has accepted, newest first. */
  open(): Promise<Invitation[]>;
  accept(id: string, at: Micros): Promise<void>;
  remove(id: string): Promise<void>;
  removeOpenFor(email: string): Promise<void>;
}

/** The index of words, and what is found by it. */
export interface SearchRows {
  /** Twice is as good as once: the indexer repeats itself after a crash. */
  add(word: string, seq: number): Promise<void>;
  count(word: string, most: number): Promise<number>;
  find(query: FindQuery): Promise<Delivery[]>;
  /** How far back a walk over `most` places goes, of deliveries that have this word, or of all: the first place it does not reach. */
  walkEnd(
    word: string | null,
    range: Pick<FindQuery, 'from' | 'before'>,
    most: number,
  ): Promise<number | null>;
}

/** Numbers for the desk. Every one of them stops at `most`, so that no question costs more than its answer is worth. */
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
