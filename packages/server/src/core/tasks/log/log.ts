import type { JsonObject } from '../../canonical.ts';
import { openText } from '../../deliveries/content/sealed.ts';
import { exactText } from '../../exact-json.ts';
import { Fault } from '../../faults.ts';
import type { AgentId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { queuePushes } from '../push/push.ts';
import type { StoredEntry } from '../store.ts';
import {
  type LogEntry,
  type LogKind,
  logIdentity,
  type TaskRecord,
  type TaskState,
  taskTopic,
} from '../task.ts';
import { DECISION_NOTE, readDecision } from './decision-message.ts';

/** What is written into a task's log; its place and the rest come from the task. */
export type NewEntry = {
  kind: LogKind;
  note: string;
  /** A string is JSON text and is inserted as it is. */
  body: JsonObject | string | null;
  /** By which a repeated message or frame is recognised. */
  key: string | null;
  at: Micros;
};

/** By which a caller's repeated message is recognised (A8). */
export function entryKey(room: Pick<Room, 'vault'>, ...names: string[]): string {
  return room.vault.sha256(names.join('\n')).slice(0, 40);
}

/**
 * The same for a frame of an agent (A13). It starts with the task, so that the keys of one task lie together in the
 * index and those of new tasks at its end: a fully random key would dirty another page for every frame.
 */
export function frameKey(
  { vault }: Pick<Room, 'vault'>,
  { seq }: Pick<TaskRecord, 'seq'>,
  frameId: string,
): string {
  return `task:${String(seq).padStart(15, '0')}:${vault.sha256(frameId).slice(0, 24)}`;
}

/** For frames that were written before keys began with their task. */
export function olderFrameKey(room: Pick<Room, 'vault'>, agent: AgentId, frameId: string): string {
  return entryKey(room, 'frame', agent, frameId);
}

/** What an entry takes beside its body, roughly. */
export const ENTRY_BYTES = 200;

/**
 * A task is shown whole, so its log must fit in memory (A24): room for an artifact of a hundred megabytes as text.
 * Files are stored beside the log; whoever has more to say opens another task.
 */
const LOG_MOST = 128 * 1024 * 1024;

/** A page of tasks, or of one task's log, ends early rather than holding more of them than this (A24). */
export const PAGE_BYTES = 8 * 1024 * 1024;

export function entryBytes(body: Pick<Uint8Array, 'length'> | string | null): number {
  return ENTRY_BYTES + (body?.length ?? 0);
}

/** Asked before anybody but a person appends to a log. The end of a task is always accepted. */
export function refuseMore({ logBytes }: Pick<TaskRecord, 'logBytes'>, body: string | null): Fault | null {
  if (logBytes + entryBytes(body) <= LOG_MOST) return null;
  const message = `A task holds at most ${LOG_MOST / 1024 / 1024} MiB of words and data. End it and open a new one; large content belongs in files.`;
  return new Fault('payload_too_large', message);
}

/** Appends one entry to a task's log. The returned task has yet to be written. */
export async function append(room: Room, tx: Tx, task: TaskRecord, entry: NewEntry): Promise<TaskRecord> {
  const { kind, note, key, at } = entry;
  const pos = task.length + 1;
  const text = entry.body === null || typeof entry.body === 'string' ? entry.body : exactText(entry.body);
  const body = text === null ? null : room.vault.seal(text, logIdentity(task, pos));
  await tx.tasks.append(task.seq, { pos, kind, note, at, body }, key);
  const next: TaskRecord = {
    ...task,
    length: pos,
    logBytes: task.logBytes + entryBytes(body),
    changedAt: Math.max(at, task.changedAt),
    state: kind === 'status' ? (note as TaskState) : task.state,
  };
  await queuePushes(room, tx, next, { pos, kind, note });
  return next;
}

/** Writes a task whose log has grown, and tells whoever follows it. */
export async function save(tx: Tx, task: TaskRecord): Promise<TaskRecord> {
  await tx.tasks.update(task);
  tx.announce(taskTopic(task));
  tx.announce(`desk:${tx.space}`, 'tasks');
  return task;
}

export function openEntry(
  room: Pick<Room, 'vault'>,
  task: Pick<TaskRecord, 'space' | 'id' | 'context'>,
  stored: StoredEntry,
): LogEntry {
  const { pos, kind, note, at } = stored;
  if (stored.body === null) return { pos, kind, note, at, body: null };
  const text = openText(room, stored.body, logIdentity(task, pos));
  const body = note === DECISION_NOTE ? readDecision(text) : (JSON.parse(text) as JsonObject);
  // Stored without these two: they are the same for every message of a task, and known only when it is written.
  return { pos, kind, note, at, body: kind === 'artifact' ? body : within(task, body) };
}

/** Adds the ids that messages are stored without: they are the same for every message of a task. */
export function within(task: Pick<TaskRecord, 'id' | 'context'>, message: JsonObject): JsonObject {
  return { ...message, contextId: task.context, taskId: task.id };
}

const NEWS = 100;
const NEWS_BYTES = 256 * 1024;

/** The entries after a place, a few at a time: their reader may be slow, and there may be many readers. */
export async function readNews(
  room: Pick<Room, 'vault'>,
  tx: Tx,
  task: TaskRecord,
  after: number,
): Promise<{ entries: readonly LogEntry[]; hasMore: boolean }> {
  const sizes = await tx.tasks.sizes(task.seq, after, NEWS + 1);
  if (sizes.length === 0) return { entries: [], hasMore: false };
  let bytes = 0;
  const tooMany = sizes.findIndex((size, i) => {
    bytes += size;
    return i > 0 && (bytes > NEWS_BYTES || i === NEWS);
  });
  const stored = await tx.tasks.log(task.seq, after, tooMany < 0 ? sizes.length : tooMany);
  return { entries: stored.map((entry) => openEntry(room, task, entry)), hasMore: tooMany >= 0 };
}

const PAGE = 1000;

/** All of a log, from the store. */
export async function readEntries(
  room: Pick<Room, 'vault'>,
  tx: Tx,
  task: TaskRecord,
): Promise<{ found: LogEntry[]; bytes: number }> {
  const found: LogEntry[] = [];
  let bytes = 0;
  for (;;) {
    const page = await tx.tasks.log(task.seq, found.at(-1)?.pos ?? 0, PAGE);
    for (const stored of page) {
      found.push(openEntry(room, task, stored));
      bytes += entryBytes(stored.body);
    }
    if (page.length < PAGE) return { found, bytes };
  }
}

const LARGE_STEP = 8;

/** Entries after a place: at most `most`, and of a long log no more than a few megabytes. */
export async function pageOfLog(
  tx: Tx,
  { seq, logBytes }: Pick<TaskRecord, 'seq' | 'logBytes'>,
  { after, most }: { after: number; most: number },
): Promise<StoredEntry[]> {
  if (logBytes <= PAGE_BYTES) return tx.tasks.log(seq, after, most);
  const found: StoredEntry[] = [];
  let bytes = 0;
  while (found.length < most && bytes < PAGE_BYTES) {
    const step = await tx.tasks.log(seq, found.at(-1)?.pos ?? after, LARGE_STEP);
    found.push(...step);
    bytes += step.reduce((sum, { body }) => sum + entryBytes(body), 0);
    if (step.length < LARGE_STEP) break;
  }
  return found;
}
