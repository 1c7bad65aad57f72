import { openText } from '../../deliveries/content/sealed.ts';
import { Fault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Job, JobState } from '../../sending/job.ts';
import type { Tx } from '../../store.ts';
import { findTask, noTask, type Place } from '../callers/place.ts';
import type { PushRecord } from '../store.ts';
import type { LogKind, TaskDialect, TaskRecord } from '../task.ts';

/** Where a caller wants to hear of a task (A18), in the words of 1.0. */
export type PushConfig = {
  id: string;
  url: string;
  token?: string;
  authentication?: { scheme: string; credentials?: string };
  dialect: TaskDialect;
};

/** As the caller asks for it: the id may still be missing. */
export type PushWish = Omit<PushConfig, 'id'> & { id: string | null };

/** Older dialects have one configuration per task, and setting it again replaces it. 1.0 allows several. */
function idFor(task: Pick<TaskRecord, 'id'>, { id, dialect }: PushWish): string | null {
  return id ?? (dialect === '1.0' ? null : task.id);
}

/** What a push job carries: which entry of which log, for which configuration. The body is made when it is sent. */
export type PushErrand = { task: number; push: string; pos: number };

const MOST_CONFIGS = 20;

type Entry = { pos: number; kind: LogKind; note: string };

/** 1.0 is told about every change; older dialects get the task whenever its state changes. */
function concerns({ dialect }: PushRecord, { kind }: Entry): boolean {
  return kind === 'status' || (kind === 'artifact' && dialect === '1.0');
}

/** Configurations with nothing under way get a job for this entry; the others reach it in order. */
export async function queuePushes(room: Room, tx: Tx, task: TaskRecord, entry: Entry): Promise<void> {
  if (entry.kind === 'message') return;
  for (const push of await tx.pushes.of(task.seq)) {
    if (push.job === null && concerns(push, entry)) await queue(room, tx, { task, push, pos: entry.pos });
  }
}

async function queue(
  room: Room,
  tx: Tx,
  { task, push, pos }: { task: TaskRecord; push: PushRecord; pos: number },
): Promise<void> {
  const { url } = openPush(room, task, push);
  const now = room.clock.now();
  const job: Job = {
    space: tx.space,
    id: room.ids.timed(now),
    kind: 'push',
    agent: task.agent,
    delivery: task.id,
    origin: new URL(url).origin,
    state: 'due',
    dueAt: now,
    attempts: 0,
    fence: 0,
    leasedUntil: null,
    createdAt: now,
  };
  const errand: PushErrand = { task: task.seq, push: push.id, pos };
  await tx.jobs.insert(job, { url, body: JSON.stringify(errand) });
  await tx.pushes.advance(task.seq, push.id, { sentPos: push.sentPos, job: job.id });
  tx.announce('jobs');
}

const PAGE = 200;

/** A push has ended, one way or another: the next entry of the log is due. So pushes arrive in order. */
export async function afterPush(room: Room, tx: Tx, job: Job, state: JobState): Promise<void> {
  if (state === 'due') return;
  const [request] = await tx.jobs.requests([job.id]);
  if (request == null) return;
  const errand = JSON.parse(request.body) as PushErrand;
  const push = await tx.pushes.get(errand.task, errand.push);
  const task = await tx.tasks.bySeq(errand.task);
  if (push === null || task === null || push.job !== job.id) return;
  // 410: the receiver wants nothing more.
  if (state === 'gone') return void (await tx.pushes.remove(task.seq, push.id));
  const done = { ...push, sentPos: errand.pos, job: null };
  const next = await nextEntry(tx, done);
  if (next === null) await tx.pushes.advance(task.seq, push.id, { sentPos: errand.pos, job: null });
  else await queue(room, tx, { task, push: done, pos: next });
}

async function nextEntry(tx: Tx, push: PushRecord): Promise<number | null> {
  let after = push.sentPos;
  for (;;) {
    const page = await tx.tasks.log(push.task, after, PAGE);
    const next = page.find((entry) => concerns(push, entry));
    if (next !== undefined) return next.pos;
    if (page.length < PAGE) return null;
    after = page.at(-1)?.pos ?? after;
  }
}

export function pushIdentity(task: Pick<TaskRecord, 'space' | 'id'>, id: string): string {
  return `push:${task.space}:${task.id}:${id}`;
}

export function openPush(room: Pick<Room, 'vault'>, task: TaskRecord, push: PushRecord): PushConfig {
  return JSON.parse(openText(room, push.body, pushIdentity(task, push.id))) as PushConfig;
}

export async function putPush(room: Room, tx: Tx, task: TaskRecord, wish: PushWish): Promise<PushConfig> {
  const config = { ...wish, id: idFor(task, wish) ?? room.ids.uuid() };
  await tx.pushes.put({
    task: task.seq,
    id: config.id,
    dialect: config.dialect,
    sentPos: task.length,
    job: null,
    createdAt: room.clock.now(),
    body: room.vault.seal(JSON.stringify(config), pushIdentity(task, config.id)),
  });
  return config;
}

/** Asked by every way of setting one: otherwise each message of a task could add another. */
export async function refusePush(tx: Tx, task: TaskRecord, wish: PushWish): Promise<Fault | null> {
  const known = await tx.pushes.of(task.seq);
  const id = idFor(task, wish);
  if (known.length < MOST_CONFIGS || known.some((push) => push.id === id)) return null;
  const message = `A task has at most ${MOST_CONFIGS} push configurations. Delete one, or replace it by its id.`;
  return new Fault('invalid_field', message, { field: 'pushNotificationConfig' });
}

export function setPush(
  room: Room,
  place: Place,
  taskId: string,
  wish: PushWish,
): Promise<PushConfig | Fault> {
  return room.store.write(place.space, ['ledger'], async (tx) => {
    const task = await findTask(tx, place, taskId);
    if (task === null) return noTask();
    return (await refusePush(tx, task, wish)) ?? putPush(room, tx, task, wish);
  });
}

export function listPushes(room: Room, place: Place, taskId: string): Promise<PushConfig[] | Fault> {
  return room.store.read(place.space, async (tx) => {
    const task = await findTask(tx, place, taskId);
    if (task === null) return noTask();
    return (await tx.pushes.of(task.seq)).map((push) => openPush(room, task, push));
  });
}

export function getPush(
  room: Room,
  place: Place,
  taskId: string,
  id: string | null,
): Promise<PushConfig | Fault> {
  return room.store.read(place.space, async (tx) => {
    const task = await findTask(tx, place, taskId);
    if (task === null) return noTask();
    const push = id === null ? (await tx.pushes.of(task.seq)).at(0) : await tx.pushes.get(task.seq, id);
    return push === undefined || push === null
      ? new Fault('not_found', 'This task has no push configuration with this id.', { field: 'id' })
      : openPush(room, task, push);
  });
}

/** Idempotent and final: a push that is under way finds nothing left to send. */
export function deletePush(room: Room, place: Place, taskId: string, id: string): Promise<null | Fault> {
  return room.store.write(place.space, ['ledger'], async (tx) => {
    const task = await findTask(tx, place, taskId);
    if (task === null) return noTask();
    await tx.pushes.remove(task.seq, id);
    return null;
  });
}
