import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { type Micros, SECOND } from '../../time.ts';
import type { TaskRecord } from '../task.ts';

/** When a stream is opened, it is not known yet whether there will be a task; it waits this long to find out. */
export const STREAM_PATIENCE_SECONDS = 1;

/** Nothing was said yet, but perhaps that the agent has begun. */
const mayBeReplied = ({ length, awaitedUntil, state }: TaskRecord): boolean =>
  awaitedUntil > 0 && (length === 1 || (length === 2 && state === 'working'));

/**
 * Whether a direct message can still be the whole answer (A7). That the agent has begun is nothing that its caller was
 * shown, unless the caller is told by pushes.
 */
export async function isFirstWord(tx: Tx, task: TaskRecord, at: Micros): Promise<boolean> {
  if (!mayBeReplied(task) || at > task.awaitedUntil) return false;
  if (task.length === 1) return true;
  const begun = await tx.tasks.entry(task.seq, task.length);
  return begun?.kind === 'status' && begun.body === null && (await tx.pushes.of(task.seq)).length === 0;
}

/** A stream begins with the first thing that happens, and its caller is shown the task with that. */
export function isOfStream({ createdAt, awaitedUntil }: TaskRecord): boolean {
  return awaitedUntil - createdAt <= STREAM_PATIENCE_SECONDS * SECOND;
}

/**
 * Asked before a caller is given a task: from then on it is theirs, and no direct message takes its place (A7), however
 * much of the time for one is left. The answer is the task as it is now, which may be replied to already.
 */
export async function show(room: Pick<Room, 'store'>, task: TaskRecord): Promise<TaskRecord> {
  if (!mayBeReplied(task)) return task;
  // The same heads as for what an agent reports: one of the two comes first.
  return room.store.write(task.space, ['ledger', `agent:${task.agent}`], async (tx) => {
    const found = await tx.tasks.bySeq(task.seq);
    if (found === null || !mayBeReplied(found)) return found ?? task;
    const shown = { ...found, awaitedUntil: 0 };
    await tx.tasks.update(shown);
    return shown;
  });
}
