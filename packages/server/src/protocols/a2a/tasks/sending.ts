import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '../../../core/canonical.ts';
import { orThrow } from '../../../core/faults.ts';
import type { Room } from '../../../core/room.ts';
import { accessTopics, isMadeUp } from '../../../core/tasks/callers/callers.ts';
import { forgetAnswered, readLog, rememberedAnswer } from '../../../core/tasks/log/log-memory.ts';
import { type CallerMessage, newTaskId, type Sent, send } from '../../../core/tasks/open.ts';
import { viewOf, type Wanted } from '../../../core/tasks/reading/read.ts';
import { STREAM_PATIENCE_SECONDS, show } from '../../../core/tasks/reading/show.ts';
import {
  isAnswer,
  type LogEntry,
  type TaskRecord,
  type TaskView,
  taskTopic,
} from '../../../core/tasks/task.ts';
import { SECOND } from '../../../core/time.ts';
import type { Headed } from '../../../http/fast-lane.ts';
import type { Shell } from '../../../http/shell.ts';
import type { Wait } from '../../../http/waiting/park.ts';
import { type Outlet, withAllContent } from '../content/content.ts';
import type { Dialect, SendRequest } from '../dialects/dialect.ts';
import { wrong } from '../dialects/parts.ts';
import { admit, type Entered } from '../door.ts';
import { toPushConfig } from '../push/config.ts';

/** What a message is answered with: the task, or a message instead of it (A7). */
export type Answer = { task: TaskView } | { message: JsonObject };

const RETRY_KEY_MOST = 255;

/**
 * All callers without a credential share one name, but each may see only their own task. A short retry key therefore
 * counts only for their network; a long one counts everywhere, because a retry may come from another network.
 */
function retryKeyOf(request: Headed, message: JsonObject, { network }: Entered): string {
  const key = plainRetryKey(request, message);
  return network !== undefined && !isMadeUp(key) ? `${key}\n${network}` : key;
}

/** A retry is recognised by its header, or else by its message id (A8). */
function plainRetryKey(request: Headed, message: JsonObject): string {
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
  /** Resolves when the log of this task may be read. */
  turn(task: TaskRecord): Promise<unknown>;
};

async function submit(asking: Asking, wanted: SendRequest, awaitSeconds: number, id?: string): Promise<Sent> {
  const { shell, request, entered, dialect } = asking;
  const sending: CallerMessage = {
    place: entered.place,
    dialect: dialect.name,
    message: wanted.message,
    taskId: wanted.taskId,
    contextId: wanted.contextId,
    network: entered.network ?? null,
    retryKey: retryKeyOf(request, wanted.message, entered),
    awaitFor: awaitSeconds * SECOND,
    push: wanted.push === null ? null : await toPushConfig(shell, entered, wanted.push, dialect.name),
  };
  return orThrow(await send(shell.room, sending, id));
}

/** `send`: the message is committed first; then the caller waits for as long as the agent's card says (A6). */
export async function sendMessage(asking: Asking, wanted: SendRequest, outlet: Outlet): Promise<Answer> {
  const { waitSeconds } = asking.entered.address.card;
  const view = { historyLength: wanted.historyLength };
  if (!wanted.blocking || waitSeconds === 0) {
    const { task, log } = await submit(asking, wanted, 0);
    await asking.turn(task);
    return answerOf(outlet, await show(outlet.room, task), view, log);
  }
  const waited = await untilAnswered(asking, wanted, waitSeconds);
  const task = await show(outlet.room, waited);
  await asking.turn(task);
  const answer = await answerOf(outlet, task, view);
  if (isAnswer(task)) forgetAnswered(outlet.room, task);
  return answer;
}

/** Listens before it sends, so that no answer is missed and none is read twice. */
async function untilAnswered(asking: Asking, wanted: SendRequest, seconds: number): Promise<TaskRecord> {
  const { shell, request, entered } = asking;
  const { room } = shell;
  const { space } = entered.place;
  const id = wanted.taskId ?? newTaskId(room);
  const millis = seconds * 1000;
  let sent: Sent | null = null;
  const answered = await shell.parking.until(
    request.raw,
    waitFor(asking, { space, id }, millis),
    async () => {
      if (sent !== null) return lookAt(room, sent.task);
      sent = await submit(asking, wanted, seconds, id);
      const { task } = sent;
      return { found: !sent.online || task.id !== id || isAnswer(task), value: task };
    },
  );
  if (answered.id === id || isAnswer(answered) || !isOnline(sent)) return answered;
  // It is a retry, so another task must be listened to.
  return shell.parking.until(request.raw, waitFor(asking, answered, millis), () => lookAt(room, answered));
}

function waitFor(
  { shell, request, entered }: Asking,
  task: Pick<TaskRecord, 'space' | 'id'>,
  millis: number,
): Wait {
  const topics = [taskTopic(task), ...accessTopics(entered.place)];
  return { topics, millis, admit: () => admit(shell, request, entered.address) };
}

const isOnline = (sent: Sent | null): boolean => sent?.online ?? false;

async function lookAt(room: Room, seen: TaskRecord): Promise<{ found: boolean; value: TaskRecord }> {
  const known = rememberedAnswer(room, seen);
  if (known !== null) return { found: true, value: known };
  const now = (await room.store.read(seen.space, (tx) => tx.tasks.bySeq(seen.seq))) ?? seen;
  return { found: isAnswer(now), value: now };
}

async function answerOf(
  outlet: Outlet,
  task: TaskRecord,
  wanted: Wanted,
  known?: readonly LogEntry[],
): Promise<Answer> {
  const { room } = outlet;
  const log = known ?? (await room.store.read(task.space, (tx) => readLog(room, tx, task)));
  const reply = task.isDirect ? log.at(-1)?.body : undefined;
  if (reply !== undefined && reply !== null) return { message: withoutTask(reply) };
  return { task: await withAllContent(outlet, viewOf(task, log, wanted)) };
}

/** A direct reply belongs to a context, but to no task that the caller could ask for. */
function withoutTask({ taskId: _, ...message }: JsonObject): JsonObject {
  return message;
}

/** How a stream begins, and the entry after which it goes on; null when that was all. */
export type Beginning = { answer: Answer; task: TaskRecord; after: number | null };

/** `stream`: the task as of this message, and then everything after it (A10). */
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
  const waited =
    millis === 0
      ? (await look()).value
      : await shell.parking.until(request.raw, waitFor(asking, task, millis), look);
  const known = await show(shell.room, waited);
  if (known.isDirect) return { answer: await answerOf(outlet, known, {}), task: known, after: null };
  await asking.turn(task);
  const { room } = outlet;
  const log = await room.store.read(task.space, (tx) => readLog(room, tx, task));
  const then = log.filter((entry) => entry.pos <= pos);
  const view = viewOf(task, then, { historyLength: wanted.historyLength });
  return { answer: { task: await withAllContent(outlet, view) }, task: known, after: pos };
}
