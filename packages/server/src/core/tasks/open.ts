import type { JsonObject } from '../canonical.ts';
import { Fault, isFault } from '../faults.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import { closeQuestion } from './ask.ts';
import { contextOf, freshContext, standsFor } from './callers/context.ts';
import { findTask, noTask, type Place } from './callers/place.ts';
import { chooseLink, liveLinks, queueFrame } from './frames.ts';
import { append, entryBytes, entryKey, openEntry, refuseMore, save } from './log/log.ts';
import { firstLog, rememberFirst } from './log/log-memory.ts';
import { type PushWish, putPush, refusePush } from './push/push.ts';
import {
  isInterrupted,
  isTerminal,
  type LogEntry,
  logIdentity,
  type TaskDialect,
  type TaskRecord,
} from './task.ts';

/** A caller's message, checked and in 1.0 JSON, without the ids of task and context. */
export type CallerMessage = {
  place: Place;
  dialect: TaskDialect;
  message: JsonObject;
  taskId: string | null;
  contextId: string | null;
  /** Of a caller without a credential. */
  network: string | null;
  /** What a retry is recognised by: `Idempotency-Key`, or else the `messageId` (A8). */
  retryKey: string;
  /** How long the caller is ready to wait for an answer. */
  awaitFor: Micros;
  push: PushWish | null;
};

export type Sent = {
  task: TaskRecord;
  /** The length of the log before this message: what follows is news to the caller. */
  after: number;
  /** The whole log, where it is known without reading it. */
  log?: readonly LogEntry[];
  isRepeat: boolean;
  online: boolean;
};

/** The same on its way into the log: plain values, fit for another thread. */
export type PreparedMessage = Omit<CallerMessage, 'message'> & {
  /** The id of the task, if one is opened. */
  id: string;
  /** JSON. */
  body: string;
};

/** What the sender cannot know about a task that was opened. */
type Opened = Pick<TaskRecord, 'seq' | 'context' | 'createdAt' | 'awaitedUntil' | 'link' | 'logBytes'>;

/** The outcome of a message; for a new task only what is new. */
export type Taken = { opened: Opened } | Sent;

export function taskEnded(task: Pick<TaskRecord, 'state'>): Fault {
  return new Fault('task_ended', `This task is ${task.state}; nothing can be added to it. Open a new one.`);
}

/** Two indexes hold these ids: fully random ones would dirty a page of each for every task. */
export function newTaskId({ ids, clock }: Pick<Room, 'ids' | 'clock'>): string {
  return ids.timed(clock.now());
}

/** Opens a task, under the id that is given, or continues one. */
export async function send(room: Room, sending: CallerMessage, id = newTaskId(room)): Promise<Sent | Fault> {
  const { message } = sending;
  const prepared = prepare(sending, id);
  const taken = await (room.intake?.take('message', prepared) ?? takeMessage(room, prepared));
  if (isFault(taken) || !('opened' in taken)) return taken;
  const task = toTask(prepared, taken.opened);
  const log = firstLog(task, message);
  const online = task.link !== null;
  if (online) rememberFirst(room, task, log, prepared.body.length);
  return { task, after: 0, log, isRepeat: false, online };
}

/** Member by member: spreading objects costs several times as much, and this runs for every message. */
function prepare(sending: CallerMessage, id: string): PreparedMessage {
  return {
    place: sending.place,
    dialect: sending.dialect,
    taskId: sending.taskId,
    contextId: sending.contextId,
    network: sending.network,
    retryKey: sending.retryKey,
    awaitFor: sending.awaitFor,
    push: sending.push,
    id,
    body: JSON.stringify(sending.message),
  };
}

/** The message, what the laptop gets, and the ledger line in one transaction. */
export function takeMessage(room: Room, sending: PreparedMessage): Promise<Taken | Fault> {
  const { id, body, taskId } = sending;
  const { space, agent, caller } = sending.place;
  const key = entryKey(room, 'message', agent, caller, sending.retryKey);
  const heads: HeadName[] = ['ledger', `frames:${agent}`, `agent:${agent}`];
  // Sealed before the transaction starts: time spent in a transaction is everybody's time.
  const sealed = taskId === null ? room.vault.seal(body, logIdentity({ space, id }, 1)) : null;
  return room.store.write(space, heads, async (tx): Promise<Taken | Fault> => {
    const earlier = await tx.tasks.byKey(key);
    if (earlier !== null) return repeated(room, tx, sending, earlier);
    return sealed === null ? proceed(room, tx, sending, key) : open(room, tx, sending, { key, sealed });
  });
}

async function repeated(
  room: Room,
  tx: Tx,
  sending: PreparedMessage,
  earlier: { seq: number; pos: number },
): Promise<Sent | Fault> {
  const task = await tx.tasks.bySeq(earlier.seq);
  const stored = task === null ? null : await tx.tasks.entry(task.seq, earlier.pos);
  if (task === null || stored === null) throw new Error(`entry ${earlier.seq}/${earlier.pos} has no task`);
  const before = openEntry(room, task, stored).body;
  const { parts } = JSON.parse(sending.body) as JsonObject;
  const isSame = room.vault.canonical(before?.parts) === room.vault.canonical(parts);
  if (isSame && (sending.taskId === null || sending.taskId === task.id))
    return { task, after: earlier.pos - 1, isRepeat: true, online: task.link !== null };
  return new Fault(
    'idempotency_conflict',
    'This messageId or Idempotency-Key was already used for another message. Use a new one for every message.',
    { field: 'message.messageId' },
  );
}

async function open(
  room: Room,
  tx: Tx,
  sending: PreparedMessage,
  { key, sealed }: { key: string; sealed: Uint8Array },
): Promise<Taken> {
  const { place, contextId, network } = sending;
  const { agent, caller } = place;
  const now = room.clock.now();
  const links = await liveLinks(room, tx, agent);
  const seq = await record(room, tx, now, {
    actor: `caller:${caller}`,
    action: 'task.opened',
    subject: sending.id,
    data: { agent },
  });
  const opened: Opened = {
    seq,
    context:
      contextId === null ? freshContext(room) : await contextOf(room, tx, { place, contextId, network }),
    createdAt: now,
    awaitedUntil: links.length > 0 && sending.awaitFor > 0 ? now + sending.awaitFor : 0,
    link: chooseLink(links, { seq, link: null }),
    logBytes: entryBytes(sealed),
  };
  const task = toTask(sending, opened);
  await tx.tasks.insert(task);
  await tx.tasks.append(seq, { pos: 1, kind: 'message', note: '', at: now, body: sealed }, key);
  await queueFrame(room, tx, task, { type: 'task', pos: 1 });
  if (sending.push !== null) await putPush(room, tx, task, sending.push);
  // Nobody can follow a task that did not exist: only lists have changed.
  tx.announce(`desk:${tx.space}`, 'tasks');
  return { opened };
}

function toTask({ place, id, dialect }: PreparedMessage, opened: Opened): TaskRecord {
  const { seq, context, createdAt, awaitedUntil, link, logBytes } = opened;
  return {
    space: place.space,
    seq,
    id,
    agent: place.agent,
    context,
    caller: place.caller,
    dialect,
    state: 'submitted',
    createdAt,
    changedAt: createdAt,
    length: 1,
    isDirect: false,
    awaitedUntil,
    link,
    delivery: null,
    logBytes,
  };
}

async function proceed(room: Room, tx: Tx, sending: PreparedMessage, key: string): Promise<Sent | Fault> {
  const found = await findTask(tx, sending.place, sending.taskId ?? '');
  const refused = refuseToProceed(room, found, sending);
  if (found === null || isFault(refused)) return refused ?? noTask();
  const crowded = sending.push === null ? null : await refusePush(tx, found, sending.push);
  if (crowded !== null) return crowded;
  const now = room.clock.now();
  const links = await liveLinks(room, tx, found.agent);
  let task: TaskRecord = { ...found, link: chooseLink(links, found), awaitedUntil: 0 };
  await record(room, tx, now, {
    actor: `caller:${task.caller}`,
    action: 'task.continued',
    subject: task.id,
    data: { agent: task.agent },
  });
  task = await closeQuestion(room, tx, task, 'Answered elsewhere: the caller has sent a message.');
  task = await append(room, tx, task, { kind: 'message', note: '', body: sending.body, key, at: now });
  const pos = task.length;
  if (isInterrupted(task.state))
    task = await append(room, tx, task, { kind: 'status', note: 'working', body: null, key: null, at: now });
  await queueFrame(room, tx, task, { type: 'message', pos });
  if (sending.push !== null) await putPush(room, tx, task, sending.push);
  await save(tx, task);
  return { task, after: found.length, isRepeat: false, online: task.link !== null };
}

function refuseToProceed(room: Room, task: TaskRecord | null, sending: PreparedMessage): Fault | null {
  if (task === null) return noTask();
  if (!isIn(room, task, sending))
    return new Fault(
      'invalid_field',
      'contextId is not the context of this task. Leave it out, or correct it.',
      {
        field: 'message.contextId',
      },
    );
  return isTerminal(task.state) ? taskEnded(task) : refuseMore(task, sending.body);
}

function isIn(room: Room, { context }: TaskRecord, { place, contextId, network }: PreparedMessage): boolean {
  if (contextId === null || contextId === context) return true;
  return standsFor(room, { place, contextId, network }) === context;
}
