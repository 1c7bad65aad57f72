import type { AgentId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';
import type { CallerToken } from './callers/callers.ts';
import type { StoredCard } from './callers/card.ts';
import type { LogKind, TaskRecord, TaskState } from './task.ts';

/** A log entry as it is kept: its body sealed. */
export type StoredEntry = {
  pos: number;
  kind: LogKind;
  note: string;
  at: Micros;
  body: Uint8Array | null;
};

export type TaskQuery = {
  agent?: AgentId | undefined;
  caller?: string | undefined;
  context?: string | undefined;
  state?: TaskState | undefined;
  changedAfter?: Micros | undefined;
  /** Newest change first, continuing after this task. */
  before?: { changedAt: Micros; seq: number } | undefined;
  limit: number;
};

export interface TaskRows {
  insert(task: TaskRecord): Promise<void>;
  get(id: string): Promise<TaskRecord | null>;
  bySeq(seq: number): Promise<TaskRecord | null>;
  /** Everything of a task that changes. */
  update(task: TaskRecord): Promise<void>;
  /** The newest task of a caller in a context; only those who have been in a context may join it (A22). */
  newestIn(agent: AgentId, caller: string, context: string): Promise<TaskRecord | null>;
  /** Whether any caller of the agent has a task in this context. */
  hasContext(agent: AgentId, context: string): Promise<boolean>;
  list(query: TaskQuery): Promise<TaskRecord[]>;
  count(query: Omit<TaskQuery, 'before' | 'limit'>, most: number): Promise<number>;
  /** `key` makes a second entry of the same message or frame impossible (A8, A13). */
  append(seq: number, entry: StoredEntry, key: string | null): Promise<void>;
  byKey(key: string): Promise<{ seq: number; pos: number } | null>;
  log(seq: number, after: number, limit: number): Promise<StoredEntry[]>;
  /** The sealed sizes of the bodies after an entry, in order. */
  sizes(seq: number, after: number, limit: number): Promise<number[]>;
  /** The messages and states up to an entry, newest first: their places and sealed sizes. */
  saidSizes(seq: number, upTo: number, limit: number): Promise<{ pos: number; size: number }[]>;
  /** The messages and states from one entry to another, without the artifacts between them. */
  said(seq: number, from: number, to: number): Promise<StoredEntry[]>;
  entry(seq: number, pos: number): Promise<StoredEntry | null>;
  /** With its log, frames, push configs and uses of content. */
  deleteEndedBefore(before: Micros, limit: number): Promise<number>;
}

/** What the hub has for an agent, until the agent has acknowledged it (A13). */
export type Frame = {
  place: number;
  type: 'task' | 'message' | 'cancel' | 'decision';
  task: { seq: number; id: string };
  /** The log entry with the message; 0 when there is none. */
  pos: number;
  /** The connection it is for. */
  link: string | null;
  at: Micros;
  /** Of a decision; sealed. */
  body: Uint8Array | null;
};

export type Link = { agent: AgentId; id: string; since: Micros; until: Micros };

export interface FrameRows {
  insert(agent: AgentId, frame: Frame): Promise<void>;
  forLink(agent: AgentId, link: string, after: number, limit: number): Promise<Frame[]>;
  /** True if it was still there. */
  acknowledge(agent: AgentId, place: number): Promise<boolean>;
  /** Hands over frames that nobody has, or whose connection is gone, with the tasks they belong to. */
  adopt(agent: AgentId, from: string | null, to: string | null): Promise<number>;
  removeUnsent(agent: AgentId, taskSeq: number): Promise<number>;
  waiting(agent: AgentId, most: number): Promise<number>;
}

export interface LinkRows {
  insert(link: Link): Promise<void>;
  of(agent: AgentId): Promise<Link[]>;
  /** False when it is gone, or its lease ran out before. */
  renew(agent: AgentId, id: string, lease: { now: Micros; until: Micros }): Promise<boolean>;
  remove(agent: AgentId, id: string): Promise<boolean>;
  /** Of the whole space, for the desk. */
  live(now: Micros): Promise<Link[]>;
}

export type PushRecord = {
  task: number;
  id: string;
  dialect: string;
  /** Everything up to this entry of the log was sent or given up. */
  sentPos: number;
  job: string | null;
  createdAt: Micros;
  /** 1.0 JSON, sealed. */
  body: Uint8Array;
};

export interface PushRows {
  put(push: PushRecord): Promise<void>;
  get(task: number, id: string): Promise<PushRecord | null>;
  of(task: number): Promise<PushRecord[]>;
  remove(task: number, id: string): Promise<boolean>;
  advance(task: number, id: string, next: { sentPos: number; job: string | null }): Promise<void>;
}

export interface CallerRows {
  insert(token: CallerToken): Promise<void>;
  get(agent: AgentId, id: string): Promise<CallerToken | null>;
  /** The newest first. */
  list(agent: AgentId): Promise<CallerToken[]>;
  revoke(agent: AgentId, id: string, at: Micros): Promise<boolean>;
  used(id: string, at: Micros): Promise<void>;
}

export interface CardRows {
  get(agent: AgentId): Promise<StoredCard | null>;
  put(agent: AgentId, card: StoredCard): Promise<void>;
}

export type Blob = {
  id: string;
  agent: AgentId;
  /** A keyed hash of the content; null until all of it is there. */
  digest: string | null;
  size: number;
  chunks: number;
  createdAt: Micros;
  /** An upload, under way or finished, that no artifact has named so far. */
  isUnnamed: boolean;
};

/** What an agent has uploaded and not named. */
export type Unnamed = { count: number; bytes: number };

export interface BlobRows {
  insert(blob: Blob): Promise<void>;
  get(id: string): Promise<Blob | null>;
  byDigest(digest: string): Promise<Blob | null>;
  finish(id: string, done: { digest: string; size: number; chunks: number }): Promise<void>;
  /** Treats the content as if it had just arrived. */
  renew(id: string, at: Micros): Promise<void>;
  /** Notes how much of an upload has come so far. */
  grow(id: string, size: number): Promise<void>;
  insertChunk(id: string, place: number, body: Uint8Array): Promise<void>;
  chunk(id: string, place: number): Promise<Uint8Array | null>;
  remove(id: string): Promise<void>;
  unnamed(agent: AgentId, since: Micros): Promise<Unnamed>;
  /** Records that a task refers to this content, which is named from now on; safe to repeat. */
  use(task: number, id: string): Promise<void>;
  isUsed(task: number, id: string): Promise<boolean>;
  /** Content that no task refers to, and that nobody can be about to use. */
  unused(before: Micros, limit: number): Promise<string[]>;
}

/** A key that signs cards and pushes; of the server, not of a space. */
export interface SigningRows {
  insert(key: SigningKey): Promise<void>;
  /** Newest first. */
  list(): Promise<SigningKey[]>;
  retire(id: string, at: Micros): Promise<void>;
}

export interface TaskTx {
  readonly tasks: TaskRows;
  readonly frames: FrameRows;
  readonly links: LinkRows;
  readonly pushes: PushRows;
  readonly callers: CallerRows;
  readonly cards: CardRows;
  readonly blobs: BlobRows;
  readonly signing: SigningRows;
}

/** A private JWK with its name; sealed at rest. */
export type SigningKey = { id: string; jwk: string; createdAt: Micros; retiredAt: Micros | null };

/** An agent as its address names it, with what is needed to let somebody in. */
export type AgentAddress = { space: SpaceId; createdAt: Micros; isSample: boolean; card: StoredCard | null };

export interface TaskDirectory {
  agentAddress(handle: string, agent: AgentId): Promise<AgentAddress | null>;
  callerByDigest(digest: string): Promise<CallerToken | null>;
  /** Agents whose connection ended without a goodbye. */
  lostLinks(before: Micros, limit: number): Promise<{ space: SpaceId; agent: AgentId; link: string }[]>;
}
