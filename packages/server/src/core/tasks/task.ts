import type { JsonObject } from '../canonical.ts';
import type { AgentId, DeliveryId, SpaceId } from '../ids.ts';
import { type Micros, toIso } from '../time.ts';

/** The eight states of A12, in our words; the picture is in docs/states.md. */
export const TASK_STATES = [
  'submitted',
  'working',
  'input_required',
  'auth_required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const TERMINAL: ReadonlySet<TaskState> = new Set(['completed', 'failed', 'canceled', 'rejected']);
const INTERRUPTED: ReadonlySet<TaskState> = new Set(['input_required', 'auth_required']);

/** A terminal state never changes (A9). */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** Somebody has to say something before the agent goes on. */
export function isInterrupted(state: TaskState): boolean {
  return INTERRUPTED.has(state);
}

/** Nothing more comes by itself: a caller that waits is answered, a stream ends. */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Whether a waiting caller can be answered now. */
export function isAnswer({ state, isDirect }: Pick<TaskRecord, 'state' | 'isDirect'>): boolean {
  return isDirect || isSettled(state);
}

/** The dialects of A4; a task remembers the one it was opened in. */
export type TaskDialect = '1.0' | '0.3' | 'seed';

export type TaskRecord = {
  space: SpaceId;
  /** Its line in the ledger, and with that its place among all tasks of the space. */
  seq: number;
  id: string;
  agent: AgentId;
  context: string;
  /** Who opened it, and alone may see it: `agent:…`, `person:…`, `token:…` or `public`. */
  caller: string;
  dialect: TaskDialect;
  state: TaskState;
  createdAt: Micros;
  changedAt: Micros;
  /** Entries in its log. */
  length: number;
  /** The caller got a message instead of a task (A7). */
  isDirect: boolean;
  /** Until then a direct message may be the whole answer, because nobody was shown a task yet. */
  awaitedUntil: Micros;
  /** The connection that has the work; null when nobody was there. */
  link: string | null;
  /** The open question on the desk, while there is one (A17). */
  delivery: DeliveryId | null;
  /** The size of its log: sealed bodies, plus what each entry takes beside its body. */
  logBytes: number;
};

export type LogKind = 'message' | 'status' | 'artifact';

/** One entry of a task's log (A9). Bodies are 1.0 JSON: a Message, a status's Message if any, or an Artifact. */
export type LogEntry = {
  pos: number;
  kind: LogKind;
  /**
   * For a status its state; for an artifact whether it appends and whether it was the last chunk; for a message
   * whether it carries a decision.
   */
  note: string;
  at: Micros;
  body: JsonObject | null;
};

export type ArtifactNote = '' | 'append' | 'last' | 'append last';

export function artifactNote(append: boolean, last: boolean): ArtifactNote {
  if (append) return last ? 'append last' : 'append';
  return last ? 'last' : '';
}

export const appends = (note: string): boolean => note.startsWith('append');
export const isLastChunk = (note: string): boolean => note.endsWith('last');

/** A task as it is now, in the form it is stored in: 1.0 JSON. */
export type TaskView = {
  id: string;
  contextId: string;
  status: StatusView;
  artifacts?: JsonObject[];
  history?: JsonObject[];
};

export type StatusView = { state: string; timestamp: string; message?: JsonObject };

function wireState(state: TaskState): string {
  return `TASK_STATE_${state.toUpperCase()}`;
}

export function fromWireState(state: string): TaskState | null {
  return TASK_STATES.find((known) => wireState(known) === state) ?? null;
}

export function statusOf(entry: Pick<LogEntry, 'note' | 'at' | 'body'>): StatusView {
  return {
    state: wireState(entry.note as TaskState),
    timestamp: toMillisIso(entry.at),
    ...(entry.body === null ? {} : { message: entry.body }),
  };
}

/** Three fractional digits: a proto timestamp may only have 0, 3, 6 or 9, and some clients read only three. */
export function toMillisIso(at: Micros): string {
  return `${toIso(at).slice(0, 23)}Z`;
}

export function submitted(task: Pick<TaskRecord, 'createdAt'>): StatusView {
  return { state: wireState('submitted'), timestamp: toMillisIso(task.createdAt) };
}

/** The row that a sealed log entry belongs to. */
export function logIdentity(task: Pick<TaskRecord, 'space' | 'id'>, pos: number): string {
  return `task:${task.space}:${task.id}:${pos}`;
}

export function taskTopic(task: Pick<TaskRecord, 'space' | 'id'>): `task:${string}` {
  return `task:${task.space}:${task.id}`;
}
