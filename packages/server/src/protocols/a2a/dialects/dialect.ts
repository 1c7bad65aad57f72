import type { Json, JsonObject } from '../../../core/canonical.ts';
import type { PushConfig } from '../../../core/tasks/push/push.ts';
import type { TaskDialect, TaskState, TaskView } from '../../../core/tasks/task.ts';
import type { Micros } from '../../../core/time.ts';

/** What a caller asks for, in our own form, whatever the dialect. */
export type SendRequest = {
  /** 1.0 JSON without the ids of task and context. */
  message: JsonObject;
  taskId: string | null;
  contextId: string | null;
  blocking: boolean;
  historyLength: number | undefined;
  push: PushRequest | null;
};

/** `urlField` is where the request holds the address. */
export type PushRequest = Omit<PushConfig, 'id' | 'dialect'> & { id: string | null; urlField: string };

export type PushPage = { configs: readonly PushConfig[]; nextPageToken: string };

export type GetRequest = { id: string; historyLength: number | undefined };

export type ListRequest = {
  context: string | undefined;
  state: TaskState | undefined;
  changedAfter: Micros | undefined;
  pageToken: string | null;
  pageSize: number;
  historyLength: number | undefined;
  artifacts: boolean;
};

export type PushSetRequest = { taskId: string; push: PushRequest };
export type PushGetRequest = { taskId: string; id: string | null };

export type Update = { taskId: string; contextId: string; isFinal: boolean } & (
  | { kind: 'status'; status: TaskView['status'] }
  | { kind: 'artifact'; artifact: JsonObject; append: boolean; lastChunk: boolean }
);

/** A version of the protocol: pure mappings from the wire inward and back (A5). */
export interface Dialect {
  readonly name: TaskDialect;
  toSend(params: JsonObject): SendRequest;
  toGet(params: JsonObject): GetRequest;
  toList(params: JsonObject): ListRequest;
  toPushSet(params: JsonObject): PushSetRequest;
  toPushGet(params: JsonObject): PushGetRequest;
  fromTask(task: TaskView): Json;
  fromMessage(message: JsonObject): Json;
  /** What `send` answers: a task or a message. */
  fromAnswer(answer: { task: TaskView } | { message: JsonObject }): Json;
  /** The same as the first event of a stream. */
  fromStreamed(answer: { task: TaskView } | { message: JsonObject }): Json;
  fromUpdate(update: Update): Json;
  fromList(list: { tasks: TaskView[]; nextPageToken: string; pageSize: number; totalSize: number }): Json;
  fromPush(taskId: string, config: PushConfig): Json;
  fromPushes(taskId: string, page: PushPage): Json;
}

export const PAGE_DEFAULT = 50;
export const PAGE_MOST = 100;
