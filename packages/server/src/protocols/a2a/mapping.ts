import type { Json, JsonObject } from '../../core/canonical.ts';
import { fromWireState, type TaskView } from '../../core/tasks/task.ts';
import {
  type Dialect,
  type ListRequest,
  PAGE_DEFAULT,
  PAGE_MOST,
  type PushRequest,
  type SendRequest,
  type Update,
} from './dialects/dialect.ts';
import {
  member,
  optionalCount,
  optionalFlag,
  optionalId,
  optionalObject,
  optionalTexts,
  optionalTime,
  requiredId,
} from './dialects/fields.ts';
import { metadataOf, type Spelling, toParts, wrong } from './dialects/parts.ts';

/** A2A 1.0: what is stored is what is sent. */
export const V1: Dialect = {
  name: '1.0',
  toSend: (params) => {
    const configuration = optionalObject(params, 'configuration');
    const returnsAtOnce = optionalFlag(configuration, 'returnImmediately', 'configuration.returnImmediately');
    const blocking = optionalFlag(configuration, 'blocking', 'configuration.blocking');
    assertModes(configuration);
    return {
      ...toMessage(params, '1.0', toRole),
      blocking: returnsAtOnce === undefined ? blocking !== false : !returnsAtOnce,
      historyLength: historyOf(configuration, 'configuration.historyLength'),
      push: inlinePush(configuration, ['taskPushNotificationConfig', 'pushNotificationConfig']),
    };
  },
  toGet: (params) => ({ id: toTaskId(params), historyLength: historyOf(params) }),
  toList: (params) => toList(params),
  toPushSet: (params) => {
    const nested = optionalObject(params, 'pushNotificationConfig');
    const config = Object.keys(nested).length > 0 ? nested : optionalObject(params, 'config');
    const flat = Object.keys(config).length > 0 ? config : params;
    return { taskId: requiredId(params, 'taskId'), push: toPush(flat, flat === params ? '' : 'config.') };
  },
  toPushGet: (params) => ({ taskId: requiredId(params, 'taskId'), id: requiredId(params, 'id') }),
  fromTask: (task) => task as unknown as JsonObject,
  fromMessage: (message) => message,
  fromAnswer: fromEither,
  fromStreamed: fromEither,
  fromUpdate,
  fromList: (list) => list as unknown as JsonObject,
  fromPush: (taskId, { dialect: _, ...config }) => ({ ...config, taskId }),
  fromPushes: (taskId, { configs, nextPageToken }) => ({
    configs: configs.map((config) => V1.fromPush(taskId, config)),
    nextPageToken,
  }),
};

function fromEither(answer: { task: TaskView } | { message: JsonObject }): Json {
  return answer as unknown as JsonObject;
}

function fromUpdate(update: Update): Json {
  const { taskId, contextId } = update;
  if (update.kind === 'status')
    return { statusUpdate: { taskId, contextId, status: update.status as unknown as JsonObject } };
  const { artifact, append, lastChunk } = update;
  return {
    artifactUpdate: {
      taskId,
      contextId,
      artifact,
      ...(append ? { append } : {}),
      ...(lastChunk ? { lastChunk } : {}),
    },
  };
}

function toRole(role: Json | undefined): boolean {
  return role === 'ROLE_USER';
}

/** The message of a `send`, with its ids kept apart. */
export function toMessage(
  params: JsonObject,
  spelling: Spelling,
  isUser: (role: Json | undefined) => boolean,
): Pick<SendRequest, 'message' | 'taskId' | 'contextId'> {
  const message = member(params, 'message');
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw wrong('message', 'is required: an object.');
  optionalObject(params, 'metadata');
  if (!isUser(message.role)) {
    const expected = spelling === '1.0' ? 'ROLE_USER' : 'user';
    throw wrong('message.role', `must be "${expected}".`);
  }
  if (spelling !== '1.0' && message.kind !== undefined && message.kind !== 'message')
    throw wrong('message.kind', 'must be "message".');
  return {
    message: {
      messageId: requiredId(message, 'messageId', 'message.messageId'),
      role: 'ROLE_USER',
      parts: toParts(message.parts, 'message.parts', spelling),
      ...metadataOf(message, 'message'),
      ...optionalTexts(message, 'extensions', 'message.extensions'),
      ...optionalTexts(message, 'referenceTaskIds', 'message.referenceTaskIds'),
    },
    taskId: optionalId(message, 'taskId', 'message.taskId'),
    contextId: optionalId(message, 'contextId', 'message.contextId'),
  };
}

/** Only checked: the agent answers as it can, and says in which form. */
export function assertModes(configuration: JsonObject): void {
  optionalTexts(configuration, 'acceptedOutputModes', 'configuration.acceptedOutputModes');
}

export function historyOf(holder: JsonObject, field = 'historyLength'): number | undefined {
  return optionalCount(holder, 'historyLength', { least: 0, field });
}

/** An id, or the resource name `tasks/{id}` of the older proto. */
export function toTaskId(params: JsonObject): string {
  if (member(params, 'id') === undefined && typeof params.name === 'string')
    return params.name.replace(/^tasks\//, '');
  return requiredId(params, 'id');
}

export function toList(params: JsonObject, toState = fromWireState): ListRequest {
  const status = member(params, 'status');
  const state = typeof status === 'string' ? toState(status) : null;
  const isGiven = status !== undefined && status !== '' && status !== 'TASK_STATE_UNSPECIFIED';
  if (isGiven && state === null) throw wrong('status', 'must be a task state.');
  return {
    context: optionalId(params, 'contextId') ?? undefined,
    state: state ?? undefined,
    changedAfter: optionalTime(params, 'statusTimestampAfter'),
    pageToken: optionalId(params, 'pageToken'),
    pageSize: optionalCount(params, 'pageSize', { least: 1, most: PAGE_MOST }) ?? PAGE_DEFAULT,
    historyLength: historyOf(params) ?? 0,
    artifacts: optionalFlag(params, 'includeArtifacts') ?? false,
  };
}

export function inlinePush(configuration: JsonObject, names: readonly string[]): PushRequest | null {
  for (const name of names) {
    if (member(configuration, name) === undefined) continue;
    const given = optionalObject(configuration, name, `configuration.${name}`);
    const nested = optionalObject(given, 'pushNotificationConfig');
    return toPush(Object.keys(nested).length > 0 ? nested : given, `configuration.${name}.`);
  }
  return null;
}

const SECRET_MOST = 4096;

/** Address and credentials of a push; whether we go there is judged by the core. */
export function toPush(given: JsonObject, path: string): PushRequest {
  const authentication = optionalObject(given, 'authentication', `${path}authentication`);
  const token = toSecret(given, 'token', path);
  const scheme = toScheme(authentication, `${path}authentication.`);
  const credentials = toSecret(authentication, 'credentials', `${path}authentication.`);
  return {
    id: optionalId(given, 'id', `${path}id`),
    url: requiredId2048(given, `${path}url`),
    urlField: `${path}url`,
    ...(token === null ? {} : { token }),
    ...(scheme === null
      ? {}
      : { authentication: { scheme, ...(credentials === null ? {} : { credentials }) } }),
  };
}

function requiredId2048(given: JsonObject, field: string): string {
  if (typeof given.url !== 'string' || given.url === '') throw wrong(field, 'is required: an address.');
  return given.url;
}

/** 1.0 has one `scheme`, 0.3 a list of `schemes`. */
function toScheme(authentication: JsonObject, path: string): string | null {
  const { schemes } = optionalTexts(authentication, 'schemes', `${path}schemes`);
  const scheme = authentication.scheme ?? (Array.isArray(schemes) ? schemes[0] : undefined);
  if (scheme === undefined || scheme === null || scheme === '') {
    if (member(authentication, 'credentials') === undefined) return null;
    throw wrong(`${path}scheme`, 'is required where there are credentials.');
  }
  if (typeof scheme !== 'string' || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(scheme))
    throw wrong(`${path}scheme`, 'must be one word, such as Bearer.');
  return scheme;
}

/** It becomes a header, so it must be valid as one. */
function toSecret(holder: JsonObject, name: string, path: string): string | null {
  const value = member(holder, name);
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string' || value.length > SECRET_MOST || !/^[\x20-\x7e]+$/.test(value))
    throw wrong(`${path}${name}`, 'must be plain text without line breaks.');
  return value;
}
