import type { JsonObject } from '../../canonical.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { isAnswer, type LogEntry, type TaskRecord } from '../task.ts';
import { ENTRY_BYTES, readEntries, within } from './log.ts';

/** Logs that were just read. A log of a given length never changes, so what is remembered is never wrong. */
export interface LogMemory {
  get(name: string): readonly LogEntry[] | undefined;
  put(name: string, log: readonly LogEntry[], bytes: number): void;
  /** The log of this name has one more entry, and with it a new name. Nothing happens if it is not remembered. */
  grow(from: string, to: string, entry: LogEntry, bytes: number): void;
  /** The task as a waiting caller may be told it; the last one that was put. */
  settled(name: string): TaskRecord | undefined;
  settle(name: string, task: TaskRecord): void;
  /** Nobody is going to ask for it soon. */
  forget(log: string, task: string): void;
}

function memoryName({ space, seq, length }: Pick<TaskRecord, 'space' | 'seq' | 'length'>): string {
  return `${space}/${seq}/${length}`;
}

/** The whole log. The memory is used only in reads: a write may yet be rolled back. */
export async function readLog(
  room: Pick<Room, 'vault' | 'logs'>,
  tx: Tx,
  task: TaskRecord,
): Promise<readonly LogEntry[]> {
  if (room.logs === undefined) return (await readEntries(room, tx, task)).found;
  const name = memoryName(task);
  const known = room.logs.get(name);
  if (known !== undefined) return known;
  const { found, bytes } = await readEntries(room, tx, task);
  // The log may have grown since the task was read; then it is stored under another name.
  if (found.length === task.length) room.logs.put(name, found, bytes);
  return found;
}

/** The log of a task that was just opened, as reading it would find it. */
export function firstLog(task: TaskRecord, message: JsonObject): readonly LogEntry[] {
  return [{ pos: 1, kind: 'message', note: '', at: task.createdAt, body: within(task, message) }];
}

/** For the laptop, which reads it next. Only once it is committed. */
export function rememberFirst(
  { logs }: Pick<Room, 'logs'>,
  task: TaskRecord,
  log: readonly LogEntry[],
  bytes: number,
): void {
  logs?.put(memoryName(task), log, bytes + ENTRY_BYTES);
}

/**
 * The caller was answered. Whatever stays in memory longer than needed costs the garbage collector more than reading
 * it again.
 */
export function forgetAnswered({ logs }: Pick<Room, 'logs'>, task: TaskRecord): void {
  logs?.forget(memoryName(task), `${task.space}/${task.seq}`);
}

/** The message that a task was opened with, as long as it is remembered and nothing was said since. */
export function rememberedFirst(
  { logs }: Pick<Room, 'logs'>,
  task: Pick<TaskRecord, 'space' | 'seq'>,
): JsonObject | null {
  return logs?.get(memoryName({ ...task, length: 1 }))?.[0]?.body ?? null;
}

/** The log with the entry that was just appended: whoever waits for the task reads it next. Only once it is committed. */
export function rememberNext(
  { logs }: Pick<Room, 'logs'>,
  task: TaskRecord,
  { body, ...entry }: Omit<LogEntry, 'pos'>,
  bytes: number,
): void {
  if (logs === undefined) return;
  const { space, seq, length } = task;
  const before = memoryName({ space, seq, length: length - 1 });
  const next = { ...entry, pos: length, body: body === null ? null : within(task, body) };
  logs.grow(before, memoryName(task), next, bytes + ENTRY_BYTES);
  if (isAnswer(task)) logs.settle(`${space}/${seq}`, task);
}

/** What a caller waits for, if it was just written by this process and is newer than what the caller has seen. */
export function rememberedAnswer(
  { logs }: Pick<Room, 'logs'>,
  { space, seq, length }: TaskRecord,
): TaskRecord | null {
  const known = logs?.settled(`${space}/${seq}`);
  return known !== undefined && known.length > length ? known : null;
}
