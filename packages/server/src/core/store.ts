import type { Agent, CallbackSecret } from './agents/agent.ts';
import type { Identity, KeyRecord, Tier } from './agents/key.ts';
import type { DeliveryTx } from './deliveries/store.ts';
import type { EventDirectory, EventTx } from './events/store.ts';
import type { AgentId, DeliveryId, JobId, KeyId, PersonId, SpaceId } from './ids.ts';
import type { Checkpoint, LedgerLine } from './ledger/ledger.ts';
import type { LeftoverRows } from './leftovers.ts';
import type { Invitation } from './people/membership/invitation.ts';
import type { Reset } from './people/membership/reset.ts';
import type { PasskeyRecord } from './people/passkeys/passkey.ts';
import type { Person, SessionRecord, TokenRecord } from './people/person.ts';
import type { PersonTx } from './people/store.ts';
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
  /** No connection can be made to it, as far as is known; one that was made before may still answer. */
  readonly isAway: boolean;
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
  | 'leaving'
  | 'moved'
  | 'news'
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

export interface Tx extends DeliveryTx, PersonTx, EventTx, TaskTx {
  readonly space: SpaceId;
  readonly heads: Heads;
  readonly spaces: SpaceRows;
  readonly agents: AgentRows;
  readonly keys: KeyRows;
  readonly jobs: JobRows;
  readonly ledger: LedgerRows;
  readonly leftovers: LeftoverRows;
  readonly deadlines: DeadlineRows;
  readonly sealed: SealedRows;
  /** Told to listeners after the commit, never before; `about` names what changed. */
  announce(topic: Topic, about?: string): void;
}

export type Topic =
  | `task:${string}`
  | `frames:${string}`
  | `inbox:${string}`
  | `answer:${string}`
  | `access:${string}`
  | 'access'
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
  /** Due and free, oldest first; receivers at their limit are skipped, so that they slow down nobody else. */
  jobsDue(before: Micros, limit: number, busyOrigins: readonly string[]): Promise<Job[]>;
  /** When the next job is due of those that are not due yet. */
  nextJobAt(after: Micros): Promise<Micros | null>;
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

/** A page of the agents in the order of their names: after this one, with these letters in the name. */
export type AgentQuery = { after: string; containing: string; limit: number };

export interface AgentRows {
  insert(agent: Agent, secrets: readonly CallbackSecret[]): Promise<void>;
  get(id: AgentId): Promise<Agent | null>;
  isAccepted(id: AgentId): Promise<boolean>;
  list(): Promise<Agent[]>;
  page(query: AgentQuery): Promise<Agent[]>;
  names(limit: number): Promise<AgentId[]>;
  accept(id: AgentId, at: Micros): Promise<void>;
  setCallbacks(id: AgentId, callbacks: readonly string[]): Promise<void>;
  secrets(id: AgentId): Promise<CallbackSecret[]>;
  setSecrets(id: AgentId, secrets: readonly CallbackSecret[]): Promise<void>;
  seen(id: AgentId, at: Micros): Promise<void>;
  /** Was seen, over a connection of its laptop. */
  connected(id: AgentId, at: Micros): Promise<void>;
  /** The sample agents. */
  samples(): Promise<ReadonlySet<AgentId>>;
  /** Removes an agent with everything but its lines in the ledger. */
  remove(id: AgentId): Promise<void>;
}

export interface KeyRows {
  insert(key: KeyRecord): Promise<void>;
  list(agent: AgentId): Promise<KeyRecord[]>;
  /** Gives this end to every other key of an agent that would live longer. */
  expireOthers(agent: AgentId, except: KeyId, at: Micros): Promise<number>;
  revoke(id: KeyId, at: Micros): Promise<number>;
}

/**
 * `subscription` is set for a forward: its secret signs, and when the subscription is gone, nobody wants the event
 * any more. `tier` is set for an answer: the tier of the key that delivered, so that the delivery need not be read to
 * judge the address.
 */
export type Request = { url: string; body: string; subscription?: string; tier?: Tier };

export interface JobRows {
  insert(job: Job, request: Request): Promise<void>;
  get(id: JobId): Promise<Job | null>;
  /** The requests of these jobs, in their order; null for one that is missing or cannot be opened. */
  requests(ids: readonly JobId[]): Promise<(Request | null)[]>;
  byDelivery(delivery: DeliveryId): Promise<Job[]>;
  /**
   * Leases those jobs that are still due and free and have this fence, and gives each a new fence. Returns which
   * ones.
   */
  lease(
    page: readonly { id: JobId; fence: number }[],
    now: Micros,
    until: Micros,
  ): Promise<ReadonlySet<JobId>>;
  /** Written only for jobs whose fence still holds. Returns which ones. */
  settle(
    page: readonly { id: JobId; fence: number; state: JobState; dueAt: Micros; attempts: number }[],
  ): Promise<ReadonlySet<JobId>>;
  /** By hand: due again at once, whatever became of it. An attempt that is under way counts already. */
  requeue(id: JobId, at: Micros): Promise<boolean>;
  release(id: JobId, fence: number): Promise<boolean>;
  /** The worker is still busy with it. False when the lease was lost meanwhile. */
  renew(id: JobId, fence: number, until: Micros): Promise<boolean>;
  insertAttempt(attempt: Attempt): Promise<void>;
  attempts(delivery: DeliveryId): Promise<Attempt[]>;
}

export type LedgerQuery = {
  /** A whole action (`decision.held`) or the part before its dot (`decision`). */
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
  /** The newest lines among those from `from` on; the range bounds the work, whatever the filter is. */
  newestOf(query: LedgerQuery): Promise<LedgerLine[]>;
  /** When a line was written. */
  at(seq: number): Promise<Micros | null>;
  insertCheckpoint(checkpoint: Checkpoint): Promise<void>;
  setSignature(seq: number, signature: string): Promise<void>;
  checkpoints(): Promise<Checkpoint[]>;
  lastCheckpoint(): Promise<Checkpoint | null>;
}
