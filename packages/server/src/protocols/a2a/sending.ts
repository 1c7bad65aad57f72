import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '../../core/canonical.ts';
import { orThrow } from '../../core/faults.ts';
import { readLog } from '../../core/tasks/log.ts';
import { type CallerMessage, type Sent, send } from '../../core/tasks/open.ts';
import { viewOf, type Wanted } from '../../core/tasks/read.ts';
import { isSettled, type TaskRecord, type TaskView, taskTopic } from '../../core/tasks/task.ts';
import { SECOND } from '../../core/time.ts';
import type { Headed } from '../../http/fast-lane.ts';
import type { Shell } from '../../http/shell.ts';
import { type Outlet, withAllContent } from './content.ts';
import type { Dialect, SendRequest } from './dialect.ts';
import type { Entered } from './door.ts';
import { wrong } from './parts.ts';
import { toPushConfig } from './push-config.ts';

/** What a message is answered with: the task, or a message instead of it (A7). */
export type Answer = { task: TaskView } | { message: JsonObject };

/** A stream is opened without knowing yet whether there will be a task; it waits this long to find out. */
const STREAM_PATIENCE_SECONDS = 1;

const RETRY_KEY_MOST = 255;

/** A retry is known by its header, or else by its message (A8). */
function retryKeyOf(request: Headed, message: JsonObject): string {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return `id:${message.messageId}`;
  const key = String(header);
  if (key === '' || key.length > RETRY_KEY_MOST)
    throw wrong('Idempotency-Key', `must have 1 to ${RETRY_KEY_MOST} characters.`);
  return `key:${key}`;
}

type Asking = {
  shell: Shell;
  request: Pick<FastifyRequest, 'headers' | 'raw'>;
  entered: Entered;
  dialect: Dialect;
};

async function submit(asking: Asking, wanted: SendRequest, awaitSeconds: number): Promise<Sent> {
  const { shell, request, entered, dialect } = asking;
  const sending: CallerMessage = {
    place: entered.place,
    dialect: dialect.name,
    message: wanted.message,
    taskId: wanted.taskId,
    contextId: wanted.contextId,
    retryKey: retryKeyOf(request, wanted.message),
    awaitFor: awaitSeconds * SECOND,
    push: wanted.push === null ? null : await toPushConfig(shell, entered, wanted.push, dialect.name),
  };
  return orThrow(await send(shell.room, sending));
}

/** `send`: durable first, then patient for as long as the agent's card says (A6). */
export async function sendMessage(asking: Asking, wanted: SendRequest, outlet: Outlet): Promise<Answer> {
  const { shell, request, entered } = asking;
  const seconds = wanted.blocking ? entered.address.card.waitSeconds : 0;
  const sent = await submit(asking, wanted, seconds);
  const view = { historyLength: wanted.historyLength };
  if (!sent.online || seconds === 0) return answerOf(outlet, sent.task, view);
  const { task } = sent;
  const millis = seconds * 1000;
  const settled = await shell.parking.until(request.raw, { topic: taskTopic(task), millis }, async () => {
    const now = (await shell.room.store.read(task.space, (tx) => tx.tasks.bySeq(task.seq))) ?? task;
    return { found: now.isDirect || isSettled(now.state), value: now };
  });
  return answerOf(outlet, settled, view);
}

async function answerOf(outlet: Outlet, task: TaskRecord, wanted: Wanted): Promise<Answer> {
  const { room } = outlet;
  const log = await room.store.read(task.space, (tx) => readLog(room, tx, task));
  const reply = task.isDirect ? log.at(-1)?.body : undefined;
  if (reply !== undefined && reply !== null) return { message: withoutTask(reply) };
  return { task: await withAllContent(outlet, viewOf(task, log, wanted)) };
}

/** A direct reply belongs to a context, and to no task that the caller could ask for. */
function withoutTask({ taskId: _, ...message }: JsonObject): JsonObject {
  return message;
}

/** What a stream begins with, and the entry after which it goes on; null when that was all. */
export type Beginning = { answer: Answer; task: TaskRecord; after: number | null };

/** `stream`: the task as it was with this message, and then everything that came after it (A10). */
export async function beginStream(asking: Asking, wanted: SendRequest, outlet: Outlet): Promise<Beginning> {
  const { shell, request } = asking;
  const sent = await submit(asking, wanted, STREAM_PATIENCE_SECONDS);
  const { task } = sent;
  const pos = sent.after + 1;
  const millis = sent.online && task.awaitedUntil > 0 ? STREAM_PATIENCE_SECONDS * 1000 : 0;
  const look = async () => {
    const now = (await shell.room.store.read(task.space, (tx) => tx.tasks.bySeq(task.seq))) ?? task;
    return { found: millis === 0 || now.length > pos, value: now };
  };
  const known =
    millis === 0
      ? (await look()).value
      : await shell.parking.until(request.raw, { topic: taskTopic(task), millis }, look);
  if (known.isDirect) return { answer: await answerOf(outlet, known, {}), task: known, after: null };
  const { room } = outlet;
  const log = await room.store.read(task.space, (tx) => readLog(room, tx, task));
  const then = log.filter((entry) => entry.pos <= pos);
  const view = viewOf(task, then, { historyLength: wanted.historyLength });
  return { answer: { task: await withAllContent(outlet, view) }, task: known, after: pos };
}
