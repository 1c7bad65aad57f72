import { isJsonObject, type JsonObject } from '../../../core/canonical.ts';
import { Fault } from '../../../core/faults.ts';
import type { TaskDialect } from '../../../core/tasks/task.ts';
import { V1 } from '../mapping.ts';
import type { Dialect } from './dialect.ts';
import { SEED } from './mapping-seed.ts';
import { V03 } from './mapping-v03.ts';

export const DIALECTS: Record<TaskDialect, Dialect> = { '1.0': V1, '0.3': V03, seed: SEED };

/** What the caller has declared; null for nothing. */
export type Version = '1.0' | '0.3' | null;

const SUPPORTED = ['0.3', '1.0'];

type Asked = { headers: Record<string, string | string[] | undefined>; query: unknown };

/** From the header, else the query parameter; a patch number is ignored (A4). */
export function versionOf({ headers, query }: Asked): Version {
  const given = headers['a2a-version'] || (isJsonObject(query) ? query['A2A-Version'] : undefined);
  const text = typeof given === 'string' ? given.trim() : '';
  if (text === '' && !Array.isArray(given)) return null;
  const version = /^(\d+\.\d+)(?:\.\d+)?$/.exec(text)?.[1];
  if (version === '1.0' || version === '0.3') return version;
  throw new Fault('unsupported_version', `A2A-Version must be ${SUPPORTED.join(' or ')}, or left out.`, {
    field: 'A2A-Version',
    extra: { supported: SUPPORTED },
  });
}

export type Operation =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'pushSet'
  | 'pushGet'
  | 'pushList'
  | 'pushDelete'
  | 'extendedCard';

const NEW_NAMES: Record<string, Operation> = {
  SendMessage: 'send',
  SendStreamingMessage: 'stream',
  GetTask: 'get',
  ListTasks: 'list',
  CancelTask: 'cancel',
  SubscribeToTask: 'subscribe',
  CreateTaskPushNotificationConfig: 'pushSet',
  GetTaskPushNotificationConfig: 'pushGet',
  ListTaskPushNotificationConfigs: 'pushList',
  ListTaskPushNotificationConfig: 'pushList',
  DeleteTaskPushNotificationConfig: 'pushDelete',
  GetExtendedAgentCard: 'extendedCard',
};

const OLD_NAMES: Record<string, Operation> = {
  'message/send': 'send',
  'message/stream': 'stream',
  'tasks/get': 'get',
  'tasks/list': 'list',
  'tasks/cancel': 'cancel',
  'tasks/resubscribe': 'subscribe',
  'tasks/pushNotificationConfig/set': 'pushSet',
  'tasks/pushNotificationConfig/get': 'pushGet',
  'tasks/pushNotificationConfig/list': 'pushList',
  'tasks/pushNotificationConfig/delete': 'pushDelete',
  'agent/getAuthenticatedExtendedCard': 'extendedCard',
};

export type Named = { operation: Operation } | { hint: string };

/** 1.0 has PascalCase methods, everything older slashes (A4). */
export function operationOf(method: string, version: Version): Named {
  const own = version === '1.0' ? NEW_NAMES : OLD_NAMES;
  const other = version === '1.0' ? OLD_NAMES : NEW_NAMES;
  const operation = Object.hasOwn(own, method) ? own[method] : undefined;
  if (operation !== undefined) return { operation };
  if (!Object.hasOwn(other, method)) return { hint: `There is no method "${method.slice(0, 100)}".` };
  return version === '1.0'
    ? { hint: `"${method}" belongs to 0.3. With A2A-Version: 1.0, call ${nameIn(NEW_NAMES, other[method])}.` }
    : {
        hint: `"${method}" belongs to 1.0. Send the header A2A-Version: 1.0, or call ${nameIn(OLD_NAMES, other[method])}.`,
      };
}

function nameIn(names: Record<string, Operation>, operation: Operation | undefined): string {
  return Object.keys(names).find((name) => names[name] === operation) ?? 'another method';
}

/** Without a version, a part with `type` and no `kind` is the seed's; without parts nothing is known yet. */
export function dialectOfParams(version: Version, params: JsonObject): Dialect | null {
  if (version !== null) return DIALECTS[version];
  const message = isJsonObject(params.message) ? params.message : null;
  if (message === null) return null;
  const parts = Array.isArray(message.parts) ? message.parts : [];
  const isSeed = parts.some(
    (part) => isJsonObject(part) && part.type !== undefined && part.kind === undefined,
  );
  return isSeed ? SEED : V03;
}

/** The dialect that a task was opened in, if a caller without a version can read it. */
export function dialectOfTask(version: Version, stored: TaskDialect | undefined): Dialect {
  if (version !== null) return DIALECTS[version];
  return stored === 'seed' ? SEED : V03;
}
