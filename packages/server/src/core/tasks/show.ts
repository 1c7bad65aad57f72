import type { Room } from '../room.ts';
import type { TaskRecord } from './task.ts';

const mayBeReplied = ({ length, awaitedUntil }: TaskRecord): boolean => length === 1 && awaitedUntil > 0;

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
