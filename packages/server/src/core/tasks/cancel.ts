import { Fault } from '../faults.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { closeQuestion } from './ask.ts';
import { findTask, noTask, type Place } from './callers/place.ts';
import { queueFrame } from './frames.ts';
import { append, save } from './log/log.ts';
import { isTerminal, type TaskRecord } from './task.ts';

/** By the caller. It takes effect at once, whether or not a laptop is connected; the laptop is told. */
export function cancel(room: Room, place: Place, id: string): Promise<TaskRecord | Fault> {
  return room.store.write(place.space, heads(place.agent), async (tx) => {
    const task = await findTask(tx, place, id);
    return task === null ? noTask() : end(room, tx, task, `caller:${place.caller}`);
  });
}

/** By a person, from the desk. */
export async function cancelAsPerson(room: Room, person: Person, id: string): Promise<TaskRecord | Fault> {
  const found = await room.store.read(person.space, (tx) => tx.tasks.get(id));
  if (found === null) return noTask();
  return room.store.write(person.space, heads(found.agent), async (tx) => {
    const task = await tx.tasks.get(id);
    return task === null ? noTask() : end(room, tx, task, `person:${person.id}`);
  });
}

function heads(agent: string): HeadName[] {
  return ['ledger', `agent:${agent}`, `frames:${agent}`];
}

async function end(room: Room, tx: Tx, before: TaskRecord, actor: string): Promise<TaskRecord | Fault> {
  if (isTerminal(before.state))
    return new Fault('not_cancelable', `This task is already ${before.state}; there is nothing to cancel.`);
  const now = room.clock.now();
  await record(room, tx, now, { actor, action: 'task.canceled', subject: before.id, data: {} });
  let task = await closeQuestion(room, tx, before, 'Answered elsewhere: the task was canceled.');
  task = await append(room, tx, task, { kind: 'status', note: 'canceled', body: null, key: null, at: now });
  await tellLaptop(room, tx, task);
  return save(tx, task);
}

/** Frames that were not sent yet are dropped. The laptop is told to cancel unless it cannot have the task at all. */
async function tellLaptop(room: Room, tx: Tx, task: TaskRecord): Promise<void> {
  await tx.frames.removeUnsent(task.agent, task.seq);
  if (task.link !== null || (await wasThereSince(tx, task)))
    await queueFrame(room, tx, task, { type: 'cancel', pos: 0 });
}

async function wasThereSince(tx: Tx, { agent, createdAt }: TaskRecord): Promise<boolean> {
  const connectedAt = (await tx.agents.get(agent))?.connectedAt ?? null;
  return connectedAt !== null && connectedAt >= createdAt;
}
