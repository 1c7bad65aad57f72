import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Json, JsonObject } from '../../../core/canonical.ts';
import { exactText } from '../../../core/exact-json.ts';
import { Fault, orThrow } from '../../../core/faults.ts';
import { NOBODY } from '../../../core/tasks/callers/callers.ts';
import { findTask, noTask } from '../../../core/tasks/callers/place.ts';
import { cancel } from '../../../core/tasks/cancel.ts';
import { readLog } from '../../../core/tasks/log/log-memory.ts';
import { deletePush, getPush, listPushes, setPush } from '../../../core/tasks/push/push.ts';
import { listTasks } from '../../../core/tasks/reading/list.ts';
import { readTask, viewOf } from '../../../core/tasks/reading/read.ts';
import { show } from '../../../core/tasks/reading/show.ts';
import { isTerminal, type TaskDialect, type TaskRecord } from '../../../core/tasks/task.ts';
import type { Headed } from '../../../http/fast-lane.ts';
import type { Shell } from '../../../http/shell.ts';
import { LARGE_BYTES } from '../../../http/waiting/large-answers.ts';
import type { CardMaker } from '../cards/card.ts';
import { fullAllowance, type Outlet, withAllContent } from '../content/content.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { wrong } from '../dialects/parts.ts';
import { dialectOfParams, dialectOfTask, type Operation, type Version } from '../dialects/versions.ts';
import { admit, agentUrl, type Entered } from '../door.ts';
import { toTaskId } from '../mapping.ts';
import { toPushConfig } from '../push/config.ts';
import { toPushPage } from '../push/page.ts';
import { type Beginning, beginStream, sendMessage } from './sending.ts';
import type { TaskTexts } from './task-texts.ts';

/** One call, whichever transport brought it. */
export type Call = {
  shell: Shell;
  cards: CardMaker;
  texts: TaskTexts;
  request: Pick<FastifyRequest, 'headers' | 'raw'>;
  response: ServerResponse;
  entered: Entered;
  version: Version;
  params: JsonObject;
};

/** A call that may be answered with a stream. */
export type StreamedCall = Call & { request: FastifyRequest; reply: FastifyReply };

/** The operations with a single answer; those that stream are in `beginning`. */
export type SingleOperation = Exclude<Operation, 'stream' | 'subscribe'>;

type Handler = (call: Call) => Promise<Json>;

const HANDLERS: Record<SingleOperation, Handler> = {
  send: async (call) => {
    const dialect = dialectOfParams(call.version, call.params) ?? dialectOfTask(call.version, undefined);
    const { shell, request, entered } = call;
    const asking = {
      shell,
      request,
      entered,
      dialect,
      turn: (task: TaskRecord) => turnOf(call, task.logBytes),
    };
    const answer = await sendMessage(asking, dialect.toSend(call.params), outletOf(call));
    return dialect.fromAnswer(answer);
  },
  get: async (call) => {
    const { id, historyLength } = dialectOfTask(call.version, undefined).toGet(call.params);
    await turnOf(call, (await foundTask(call, id)).logBytes);
    const { task, view } = orThrow(
      await readTask(call.shell.room, call.entered.place, id, { historyLength }),
    );
    const shown = await withAllContent(outletOf(call), view);
    return dialectOfTask(call.version, task.dialect).fromTask(shown);
  },
  list: async (call) => {
    const dialect = dialectOfTask(call.version, undefined);
    const wanted = dialect.toList(call.params);
    // The size is not known yet, and a page may be large.
    await turnOf(call, LARGE_BYTES);
    const listed = orThrow(await listTasks(call.shell.room, call.entered.place, wanted));
    const tasks = [];
    const allowance = fullAllowance();
    for (const view of listed.tasks) tasks.push(await withAllContent(outletOf(call), view, allowance));
    const shown = wanted.artifacts
      ? tasks.map((task) => ({ ...task, artifacts: task.artifacts ?? [] }))
      : tasks;
    return dialect.fromList({ ...listed, tasks: shown });
  },
  cancel: async (call) => {
    const { room } = call.shell;
    const { place } = call.entered;
    const task = orThrow(await cancel(room, place, toTaskId(call.params)));
    await turnOf(call, task.logBytes);
    const { view } = orThrow(await readTask(room, place, task.id));
    return dialectOfTask(call.version, task.dialect).fromTask(await withAllContent(outletOf(call), view));
  },
  pushSet: async (call) => {
    const { taskId, push } = dialectOfTask(call.version, undefined).toPushSet(call.params);
    const stored = await storedDialect(call, taskId);
    const dialect = dialectOfTask(call.version, stored);
    const wish = await toPushConfig(call.shell, call.entered, push, dialect.name);
    const config = orThrow(await setPush(call.shell.room, call.entered.place, taskId, wish));
    return dialect.fromPush(taskId, config);
  },
  pushGet: async (call) => {
    const dialect = dialectOfTask(call.version, undefined);
    const { taskId, id } = dialect.toPushGet(call.params);
    const stored = await storedDialect(call, taskId);
    const config = orThrow(await getPush(call.shell.room, call.entered.place, taskId, id));
    return dialectOfTask(call.version, stored).fromPush(taskId, config);
  },
  pushList: async (call) => {
    const taskId = taskIdOfPush(call);
    const stored = await storedDialect(call, taskId);
    const configs = orThrow(await listPushes(call.shell.room, call.entered.place, taskId));
    const page = call.version === '1.0' ? toPushPage(configs, call.params) : { configs, nextPageToken: '' };
    return dialectOfTask(call.version, stored).fromPushes(taskId, page);
  },
  pushDelete: async (call) => {
    const { taskId, id } = dialectOfTask(call.version, undefined).toPushGet(call.params);
    if (id === null) throw wrong('pushNotificationConfigId', 'is required.');
    orThrow(await deletePush(call.shell.room, call.entered.place, taskId, id));
    return call.version === '1.0' ? {} : null;
  },
  extendedCard: async ({ cards, entered, version }) => {
    if (entered.place.caller === NOBODY) throw noExtendedCard();
    return (await cards.extended(entered.address, version)) as unknown as Json;
  },
};

function noExtendedCard(): Fault {
  const message =
    'The extended card is for those who say who they are. Send a key or a caller token: Authorization: Bearer ….';
  return new Fault('unauthorized', message);
}

/** The answer as JSON. A task that is polled again unchanged is not assembled again. */
export async function answerText(call: Call, operation: SingleOperation): Promise<string> {
  if (operation !== 'get') return exactText(await HANDLERS[operation](call));
  const { id, historyLength } = dialectOfTask(call.version, undefined).toGet(call.params);
  if (historyLength !== undefined) return exactText(await HANDLERS.get(call));
  const { room } = call.shell;
  const { place } = call.entered;
  const task = await foundTask(call, id);
  const dialect = dialectOfTask(call.version, task.dialect);
  return call.texts.of(task, dialect.name, async () => {
    await turnOf(call, task.logBytes);
    const log = await room.store.read(place.space, (tx) => readLog(room, tx, task));
    // The log has grown meanwhile, so this is not the text of the task that was read.
    if (log.length !== task.length) return { text: exactText(await HANDLERS.get(call)), isLasting: false };
    const shown = await withAllContent(outletOf(call), viewOf(task, log));
    return { text: exactText(dialect.fromTask(shown)), isLasting: true };
  });
}

export async function foundTask(
  { shell, entered }: Pick<Call, 'shell' | 'entered'>,
  id: string,
): Promise<TaskRecord> {
  const { place } = entered;
  const task = await shell.room.store.read(place.space, (tx) => findTask(tx, place, id));
  if (task === null) throw noTask();
  return task;
}

type Turned = Pick<Call, 'shell' | 'entered' | 'response'> & { request: Headed };

/** Waits for a turn before a log of this size is read for an answer. */
export async function turnOf({ shell, request, entered, response }: Turned, logBytes: number): Promise<void> {
  const { address, network = '' } = entered;
  const { space, caller } = entered.place;
  const hasWaited = await shell.largeAnswers.turn(`${space}/${caller}/${network}`, logBytes, response);
  if (hasWaited) await admit(shell, request, address);
}

export function outletOf({ shell, entered }: Pick<Call, 'shell' | 'entered'>): Outlet {
  return { room: shell.room, space: entered.place.space, base: agentUrl(shell, entered.address) };
}

function taskIdOfPush({ version, params }: Call): string {
  const id = version === '1.0' ? (params.taskId ?? params.task_id) : params.id;
  if (typeof id !== 'string' || id === '') throw wrong(version === '1.0' ? 'taskId' : 'id', 'is required.');
  return id;
}

/** Without a version, a call is answered in the dialect that its task was opened in (A4). */
async function storedDialect(
  { shell, entered, version }: Call,
  taskId: string,
): Promise<TaskDialect | undefined> {
  if (version !== null) return undefined;
  const found = await shell.room.store.read(entered.place.space, (tx) => tx.tasks.get(taskId));
  return found?.caller === entered.place.caller ? found.dialect : undefined;
}

export type Opening = Beginning & { dialect: Dialect };

export async function openStream(call: Call): Promise<Opening> {
  const dialect = dialectOfParams(call.version, call.params) ?? dialectOfTask(call.version, undefined);
  const turn = (task: TaskRecord) => turnOf(call, task.logBytes);
  const beginning = await beginStream(
    { ...call, dialect, turn },
    dialect.toSend(call.params),
    outletOf(call),
  );
  return { ...beginning, dialect };
}

/** A subscription starts with the task, or after the last entry that its reader has seen (A10). */
export type Subscription = {
  dialect: Dialect;
  first: { pos: number; task: Json } | null;
  after: number | null;
} & Pick<Beginning, 'task'>;

export async function openSubscription(call: Call): Promise<Subscription> {
  const id = toTaskId(call.params);
  const seen = lastSeen(call.request);
  // Whoever follows it has been shown it (A7).
  const found = await show(call.shell.room, await foundTask(call, id));
  if (found.isDirect) throw noTask();
  if (seen !== null) {
    const after = Math.min(seen, found.length);
    return { dialect: dialectOfTask(call.version, found.dialect), task: found, first: null, after };
  }
  await turnOf(call, found.logBytes);
  const { task, view } = orThrow(await readTask(call.shell.room, call.entered.place, id));
  const dialect = dialectOfTask(call.version, task.dialect);
  if (isTerminal(task.state) && dialect.name === '1.0')
    throw new Fault('task_ended', `This task is ${task.state}; read it instead of subscribing to it.`);
  const shown = dialect.fromStreamed({ task: await withAllContent(outletOf(call), view) });
  return {
    dialect,
    task,
    first: { pos: task.length, task: shown },
    after: isTerminal(task.state) ? null : task.length,
  };
}

function lastSeen({ headers }: Headed): number | null {
  const header = headers['last-event-id'];
  if (header === undefined || header === '') return null;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw wrong('Last-Event-ID', 'must be an id that this stream has given out.');
}
