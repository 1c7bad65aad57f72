import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import { Fault } from '../../core/faults.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { openEntry } from '../../core/tasks/log/log.ts';
import { textOf } from '../../core/tasks/reading/read.ts';
import { appends, isLastChunk, type LogEntry, type TaskRecord } from '../../core/tasks/task.ts';
import { toIso } from '../../core/time.ts';

const ASKED_MOST = 280;

/** One row of the list: who asked for what, and how far it is. */
export async function showTask(room: Room, tx: Tx, task: TaskRecord) {
  return {
    task_id: task.id,
    agent_id: task.agent,
    context_id: task.context,
    caller: await showCaller(tx, task),
    state: task.state,
    asked: await askedWords(room, tx, task),
    created_at: toIso(task.createdAt),
    changed_at: toIso(task.changedAt),
    /** The question on the desk, while it is open. */
    delivery_id: task.delivery,
    /** The caller got a message instead of a task. */
    direct: task.isDirect,
    entries: task.length,
  };
}

async function askedWords(room: Room, tx: Tx, task: TaskRecord): Promise<string> {
  const first = await tx.tasks.entry(task.seq, 1);
  const text = first === null ? '' : textOf(openEntry(room, task, first).body).trim();
  return text.length <= ASKED_MOST ? text : `${[...text].slice(0, ASKED_MOST - 1).join('')}…`;
}

/** `agent:…`, `person:…`, `token:…` or `public`, as people know them. */
async function showCaller(tx: Tx, { caller, agent }: TaskRecord) {
  const [kind = '', id = ''] = caller.split(/:(.*)/s);
  if (kind === 'person') return { kind, id, name: (await tx.people.get(id))?.name ?? null };
  if (kind === 'token') return { kind, id, name: (await tx.callers.get(agent, id))?.name ?? null };
  return kind === 'agent' ? { kind, id, name: id } : { kind: 'public', id: null, name: null };
}

/**
 * One entry of a task's log, with its parts in A2A 1.0 form. Content stored beside the log appears as `stored: {id,
 * size}`.
 */
export function fromEntry({ pos, kind, note, at, body }: LogEntry) {
  return {
    pos,
    kind,
    at: toIso(at),
    state: kind === 'status' ? note : null,
    role: kind === 'artifact' || body === null ? null : roleOf(body),
    parts: Array.isArray(body?.parts) ? body.parts : [],
    artifact: kind === 'artifact' && body !== null ? fromArtifact(body, note) : null,
  };
}

function roleOf(message: JsonObject): 'user' | 'agent' {
  return /agent/i.test(String(message.role)) ? 'agent' : 'user';
}

function fromArtifact(artifact: JsonObject, note: string) {
  return {
    artifact_id: String(artifact.artifactId),
    name: typeof artifact.name === 'string' ? artifact.name : null,
    description: typeof artifact.description === 'string' ? artifact.description : null,
    append: appends(note),
    last: isLastChunk(note),
  };
}

/** The part that refers to this content; it has the name and the media type. */
export function partOf(log: readonly LogEntry[], content: string): JsonObject {
  for (const { body } of log) {
    for (const part of Array.isArray(body?.parts) ? body.parts : []) {
      if (isJsonObject(part) && isJsonObject(part.stored) && part.stored.id === content) return part;
    }
  }
  return {};
}

/** Where a page ended. The newest change comes first, so a task that changes later is not after it. */
export function fromTaskCursor({ changedAt, seq }: Pick<TaskRecord, 'changedAt' | 'seq'>): string {
  return Buffer.from(`${changedAt}.${seq}`).toString('base64url');
}

export function toTaskCursor(text: string | null): { changedAt: number; seq: number } | undefined {
  if (text === null) return undefined;
  const m = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(text, 'base64url').toString());
  if (m !== null) return { changedAt: Number(m[1]), seq: Number(m[2]) };
  throw new Fault('invalid_field', 'This cursor is not one of ours. Start again without it.', {
    field: 'cursor',
  });
}
