import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import type { PushConfig } from '../../../core/tasks/push/push.ts';
import { fromWireState, TASK_STATES, type TaskState, type TaskView } from '../../../core/tasks/task.ts';
import { assertModes, historyOf, inlinePush, toList, toMessage, toPush, toTaskId } from '../mapping.ts';
import type { Dialect, Update } from './dialect.ts';
import { optionalFlag, optionalId, optionalObject, requiredId } from './fields.ts';
import { type Spelling, wrong } from './parts.ts';

/** How an older dialect writes what both have in common. */
export type Manner = {
  name: 'seed' | '0.3';
  spelling: Spelling;
  state(state: TaskState): string;
  /** The tag of an object or part: `kind`, and in the seed's dialect `type` beside it. */
  tag(kind: string): JsonObject;
};

export const V03: Dialect = olderDialect({
  name: '0.3',
  spelling: '0.3',
  state: (state) => state.replace('_', '-'),
  tag: (kind) => ({ kind }),
});

export function olderDialect(manner: Manner): Dialect {
  const fromTask = (task: TaskView): Json => taskOf(manner, task);
  const fromMessage = (message: JsonObject): Json => messageOf(manner, message);
  const fromAnswer: Dialect['fromAnswer'] = (answer) =>
    'task' in answer ? fromTask(answer.task) : fromMessage(answer.message);
  const fromPush = (taskId: string, { dialect: _, ...config }: PushConfig): Json => ({
    taskId,
    pushNotificationConfig: { ...config, ...authenticationOf(manner, config) },
  });
  return {
    name: manner.name,
    toSend: (params) => {
      const configuration = optionalObject(params, 'configuration');
      assertModes(configuration);
      return {
        ...toMessage(params, manner.spelling, (role) => role === 'user'),
        blocking: optionalFlag(configuration, 'blocking', 'configuration.blocking') !== false,
        historyLength: historyOf(configuration, 'configuration.historyLength'),
        push: inlinePush(configuration, ['pushNotificationConfig']),
      };
    },
    toGet: (params) => ({ id: toTaskId(params), historyLength: historyOf(params) }),
    toList: (params) => toList(params, toOlderState),
    toPushSet: (params) => {
      const config = params.pushNotificationConfig;
      if (!isJsonObject(config)) throw wrong('pushNotificationConfig', 'is required: an object.');
      const taskId = requiredId(params, params.taskId === undefined ? 'id' : 'taskId', 'taskId');
      return { taskId, push: toPush(config, 'pushNotificationConfig.') };
    },
    toPushGet: (params) => ({
      taskId: requiredId(params, 'id'),
      id: optionalId(params, 'pushNotificationConfigId'),
    }),
    fromTask,
    fromMessage,
    fromAnswer,
    fromStreamed: fromAnswer,
    fromUpdate: (update) => updateOf(manner, update),
    fromList: (list) => ({ ...list, tasks: list.tasks.map(fromTask) }),
    fromPush,
    fromPushes: (taskId, { configs }) => configs.map((config) => fromPush(taskId, config)),
  };
}

/** In either spelling: a list request has no parts by which to recognise the seed's dialect. */
function toOlderState(text: string): TaskState | null {
  return TASK_STATES.find((state) => state === text.replace('-', '_')) ?? fromWireState(text);
}

/** 0.3 lists schemes, the seed names one. */
function authenticationOf({ name }: Manner, { authentication }: Omit<PushConfig, 'dialect'>): JsonObject {
  if (authentication === undefined) return {};
  const { scheme, credentials } = authentication;
  const given = credentials === undefined ? {} : { credentials };
  const schemes = name === 'seed' ? { scheme, schemes: [scheme] } : { schemes: [scheme] };
  return { authentication: { ...schemes, ...given } };
}

function taskOf(manner: Manner, { id, contextId, status, artifacts, history }: TaskView): JsonObject {
  return {
    ...manner.tag('task'),
    id,
    contextId,
    status: statusOf(manner, status),
    ...(artifacts === undefined ? {} : { artifacts: artifacts.map((one) => artifactOf(manner, one)) }),
    ...(history === undefined ? {} : { history: history.map((one) => messageOf(manner, one)) }),
  };
}

function statusOf(manner: Manner, { state, timestamp, message }: TaskView['status']): JsonObject {
  return {
    state: manner.state(fromWireState(state) ?? 'submitted'),
    timestamp,
    ...(message === undefined ? {} : { message: messageOf(manner, message) }),
  };
}

function messageOf(manner: Manner, { role, parts, ...rest }: JsonObject): JsonObject {
  return {
    ...manner.tag('message'),
    ...rest,
    role: role === 'ROLE_AGENT' ? 'agent' : 'user',
    parts: partsOf(manner, parts),
  };
}

function artifactOf(manner: Manner, artifact: JsonObject): JsonObject {
  return { ...artifact, parts: partsOf(manner, artifact.parts) };
}

function partsOf(manner: Manner, parts: Json | undefined): Json[] {
  return Array.isArray(parts) ? parts.filter(isJsonObject).map((part) => partOf(manner, part)) : [];
}

function partOf(manner: Manner, part: JsonObject): JsonObject {
  const { metadata, mediaType, filename } = part;
  const about = metadata === undefined ? {} : { metadata };
  if (typeof part.text === 'string') {
    const typed = typeof mediaType === 'string' ? { metadata: { ...asObject(metadata), mediaType } } : about;
    return { ...manner.tag('text'), text: part.text, ...typed };
  }
  if (part.data !== undefined) {
    const data = isJsonObject(part.data) ? part.data : { value: part.data };
    return { ...manner.tag('data'), data, ...about };
  }
  const file = {
    ...(typeof part.raw === 'string' ? { bytes: part.raw } : { uri: part.url ?? '' }),
    ...(typeof mediaType === 'string' ? { mimeType: mediaType } : {}),
    ...(typeof filename === 'string' ? { name: filename } : {}),
  };
  return { ...manner.tag('file'), file, ...about };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function updateOf(manner: Manner, update: Update): Json {
  const { taskId, contextId } = update;
  if (update.kind === 'status') {
    const status = statusOf(manner, update.status);
    return { ...manner.tag('status-update'), taskId, contextId, status, final: update.isFinal };
  }
  return {
    ...manner.tag('artifact-update'),
    taskId,
    contextId,
    artifact: artifactOf(manner, update.artifact),
    append: update.append,
    lastChunk: update.lastChunk,
  };
}
