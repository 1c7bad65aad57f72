import type { AgentId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';
import type { Ack, Entry, EventRecord, ResumePolicy } from './event.ts';
import type { Producer, ProducerKey, Refusal } from './producer.ts';
import type { Subscription } from './subscriptions/subscription.ts';
import type { Resume, Wait } from './waits/wait.ts';

/** A key with what verifies a signature. */
export type VerifyingKey = { key: ProducerKey; producer: Producer; secret: string };

export interface ProducerRows {
  insert(producer: Producer): Promise<void>;
  get(id: string): Promise<Producer | null>;
  list(): Promise<Producer[]>;
  seen(id: string, at: Micros): Promise<void>;
  insertKey(key: ProducerKey, secret: string): Promise<void>;
  keys(producer: string): Promise<ProducerKey[]>;
  secret(keyId: string): Promise<string | null>;
  setSecret(keyId: string, secret: string): Promise<void>;
  expireOthers(producer: string, except: string, at: Micros): Promise<number>;
  revokeKey(id: string, at: Micros): Promise<number>;
  setKeyEnd(id: string, at: Micros | null): Promise<void>;
  insertRefusal(refusal: Refusal): Promise<void>;
  refusals(producer: string, limit: number): Promise<Refusal[]>;
  deleteRefusalsBefore(before: Micros): Promise<number>;
}

/** An event's bytes with what is needed to send them out again. */
export type StoredEvent = EventRecord & { size: number; body(): Uint8Array };

export type Page = { entry: Entry; event: StoredEvent }[];

export interface EventRows {
  /** The body is sealed on its way into the store, and opened when somebody asks for it. */
  insert(event: EventRecord, body: Uint8Array): Promise<void>;
  get(producer: string, eventId: string): Promise<EventRecord | null>;
  byCause(causationId: string, limit: number): Promise<EventRecord[]>;
  /** An event leaves with its last entry, and takes its body along. */
  removeUnheld(seqs: readonly number[]): Promise<void>;
}

export interface EntryRows {
  insert(entry: Entry): Promise<void>;
  /** What a reader is sent, in order. */
  read(agent: AgentId, after: number, limit: number): Promise<Sending[]>;
  /** The same in as few pieces as it is stored in. */
  runs(agent: AgentId, after: number, limit: number): Promise<Run[]>;
  /** Several when producers share an id, or when a person has replayed the event. */
  byEventId(agent: AgentId, eventId: string, limit: number): Promise<Page>;
  /** The newest of a task, in their order. */
  byTask(agent: AgentId, taskId: string, limit: number): Promise<OfTask[]>;
  /** The type of the newest event that says something about the task's state. */
  lastTelling(agent: AgentId, taskId: string): Promise<string | null>;
  at(agent: AgentId, offset: number): Promise<Page[number] | null>;
  /** Newest first. */
  newest(agent: AgentId, before: number, limit: number): Promise<Page>;
  /** Newest event first, over all inboxes. */
  recent(after: EntryPlace, limit: number): Promise<Page>;
  oldest(agent: AgentId): Promise<number | null>;
  unacked(agent: AgentId, limit: number): Promise<number[]>;
  setAck(agent: AgentId, offset: number, ack: Ack): Promise<void>;
  /** The oldest entries of an inbox. */
  front(agent: AgentId, limit: number): Promise<Entry[]>;
  removeUpTo(agent: AgentId, offset: number): Promise<number>;
}

/** What is needed to tell the state of a task. */
export type OfTask = Pick<Entry, 'offset' | 'eventId' | 'eventType' | 'receivedAt' | 'hasUri'>;

/** An event's bytes with no more than what is needed to send them. */
export type Sending = { offset: number; acknowledged: boolean } & Pick<
  StoredEvent,
  'producer' | 'fillProducer' | 'size' | 'body'
>;

/** Neighbours in an inbox: envelopes as they are sent, with commas between them. Null: they must be read one by one. */
export type Run = { first: number; last: number; size: number; bytes: (() => Uint8Array) | null };

export type EntryPlace = { seq: number; agent: AgentId; place: number };

export interface SubscriptionRows {
  insert(subscription: Subscription): Promise<void>;
  update(subscription: Subscription): Promise<void>;
  /** The secret that a forwarding subscription signs with; sealed at rest. */
  setSecret(id: string, secret: string): Promise<void>;
  secret(id: string): Promise<string | null>;
  delete(id: string): Promise<number>;
  get(id: string): Promise<Subscription | null>;
  all(): Promise<Subscription[]>;
  of(agent: AgentId): Promise<Subscription[]>;
}

export type InboxSettings = { maxResumePolicy: ResumePolicy; showReviews: boolean };

export interface WaitRows {
  insert(wait: Wait): Promise<void>;
  /** Those that have neither ended nor expired. */
  open(agent: AgentId, now: Micros, limit: number): Promise<Wait[]>;
  /** Whether one is still open although its time is over. */
  hasExpired(agent: AgentId, now: Micros): Promise<boolean>;
  /** Closes those whose time is over. */
  closeExpired(agent: AgentId, now: Micros): Promise<number>;
  get(id: string): Promise<Wait | null>;
  /** True when it was open: a wait ends exactly once. */
  end(id: string): Promise<boolean>;
  insertResume(resume: Resume): Promise<void>;
  resumes(agent: AgentId, after: number, limit: number): Promise<Resume[]>;
  /** The first that belongs to this entry of the inbox or a later one. */
  firstResumeFrom(agent: AgentId, entryOffset: number): Promise<number | null>;
  resumesOf(agent: AgentId, eventId: string, limit: number): Promise<Resume[]>;
  /** They leave with their entries. */
  removeResumesUpTo(agent: AgentId, entryOffset: number): Promise<number>;
  settings(agent: AgentId): Promise<InboxSettings>;
  setSettings(agent: AgentId, settings: InboxSettings): Promise<void>;
}

/** The rows of knowledge events, beside the others of a transaction. */
export interface EventTx {
  readonly producers: ProducerRows;
  readonly events: EventRows;
  readonly entries: EntryRows;
  readonly subscriptions: SubscriptionRows;
  readonly waits: WaitRows;
}

export interface EventDirectory {
  /** By its id, which is unique on the server. */
  producerKey(id: string): Promise<VerifyingKey | null>;
  /** The newest active keys that may sign without naming themselves; of one space, or of all. */
  unnamedKeys(space: SpaceId | null, now: Micros, limit: number): Promise<VerifyingKey[]>;
}
