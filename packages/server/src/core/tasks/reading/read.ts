import { isJsonObject, type Json, type JsonObject } from '../../canonical.ts';
import type { Fault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { findTask, noTask, type Place } from '../callers/place.ts';
import { readLog } from '../log/log-memory.ts';
import { appends, type LogEntry, statusOf, submitted, type TaskRecord, type TaskView } from '../task.ts';

export type Wanted = { historyLength?: number | undefined; artifacts?: boolean | undefined };

export function readTask(
  room: Room,
  place: Place,
  id: string,
  wanted: Wanted = {},
): Promise<{ task: TaskRecord; view: TaskView } | Fault> {
  return room.store.read(place.space, async (tx) => {
    const task = await findTask(tx, place, id);
    return task === null ? noTask() : { task, view: await viewTask(room, tx, task, wanted) };
  });
}

export async function viewTask(
  room: Pick<Room, 'vault' | 'logs'>,
  tx: Tx,
  task: TaskRecord,
  wanted: Wanted = {},
): Promise<TaskView> {
  return viewOf(task, await readLog(room, tx, task), wanted);
}

/** A task from its log. */
export function viewOf(
  task: TaskRecord,
  log: readonly LogEntry[],
  { historyLength, artifacts: withArtifacts = true }: Wanted = {},
): TaskView {
  let status = submitted(task);
  const history: JsonObject[] = [];
  let artifacts: Map<string, JsonObject> | null = null;
  for (const entry of log) {
    if (entry.kind === 'status') status = statusOf(entry);
    if (entry.kind !== 'artifact' && entry.body !== null) history.push(entry.body);
    if (entry.kind === 'artifact' && withArtifacts) {
      artifacts ??= new Map();
      addArtifact(artifacts, entry);
    }
  }
  const shown = historyLength === undefined ? history : newest(history, historyLength);
  return {
    id: task.id,
    contextId: task.context,
    status,
    ...(artifacts === null ? {} : { artifacts: [...artifacts.values()] }),
    ...(shown.length === 0 ? {} : { history: shown }),
  };
}

function newest(history: JsonObject[], most: number): JsonObject[] {
  return most === 0 ? [] : history.slice(-most);
}

/** A chunk adds its parts to the existing artifact (A9); anything else replaces the one with its id. */
function addArtifact(artifacts: Map<string, JsonObject>, { note, body }: LogEntry): void {
  if (body === null) return;
  const id = String(body.artifactId);
  const before = artifacts.get(id);
  if (!appends(note) || before === undefined) artifacts.set(id, { ...body, parts: [...partsOf(body)] });
  else for (const part of partsOf(body)) partsOf(before).push(part);
}

function partsOf(holder: JsonObject): Json[] {
  return Array.isArray(holder.parts) ? holder.parts : [];
}

/** All that was said in words, for one line on the desk. */
export function textOf(message: JsonObject | null | undefined): string {
  if (message === null || message === undefined) return '';
  const texts = partsOf(message).flatMap((part) =>
    isJsonObject(part) && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.join('\n');
}
