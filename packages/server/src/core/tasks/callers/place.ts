import { Fault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import type { Tx } from '../../store.ts';
import type { TaskRecord } from '../task.ts';

/** An agent's address and who is calling it: a task is reachable through its own agent alone (A22). */
export type Place = { space: SpaceId; agent: AgentId; caller: string };

export function noTask(): Fault {
  return new Fault('not_found', 'Task not found: there is no task with this id here.');
}

/** The task, if this caller may see it; foreign and unknown tasks look alike. */
export async function findTask(tx: Tx, { agent, caller }: Place, id: string): Promise<TaskRecord | null> {
  const task = await tx.tasks.get(id);
  if (task === null || task.agent !== agent || task.caller !== caller || task.isDirect) return null;
  return task;
}
