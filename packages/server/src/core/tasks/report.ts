import type { JsonObject } from '../canonical.ts';
import { Fault, isFault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { closeQuestion, openQuestion } from './ask.ts';
import { keepContent, type PreparedContent } from './content.ts';
import { append, entryKey, save } from './log.ts';
import { taskEnded } from './open.ts';
import { artifactNote, isInterrupted, isTerminal, type TaskRecord, type TaskState } from './task.ts';

/** Something an agent says about one of its tasks (A13). */
export type Report = {
  space: SpaceId;
  agent: AgentId;
  /** Chosen by the agent; the same again changes nothing. */
  frameId: string;
  taskId: string;
} & (
  | { kind: 'state'; state: Exclude<TaskState, 'submitted' | 'canceled'>; message: JsonObject | null }
  | {
      kind: 'artifact';
      artifact: JsonObject;
      append: boolean;
      lastChunk: boolean;
      /** Bytes that are kept beside the log. */
      content: readonly PreparedContent[];
    }
  | { kind: 'message'; message: JsonObject }
);

export type Reported = { task: TaskRecord; isRepeat: boolean };

/** The laptop may touch only its own agent's tasks (A22), and never one that has ended (A9). */
export function report(room: Room, said: Report): Promise<Reported | Fault> {
  const heads: HeadName[] = ['ledger', `agent:${said.agent}`];
  const key = entryKey(room, 'frame', said.agent, said.frameId);
  return room.store.write(said.space, heads, async (tx) => {
    const task = await tx.tasks.get(said.taskId);
    if (task === null || task.agent !== said.agent)
      return new Fault('not_found', 'There is no task with this id for this agent.');
    const earlier = await tx.tasks.byKey(key);
    if (earlier !== null) return { task, isRepeat: true };
    if (isTerminal(task.state)) return taskEnded(task);
    const next = await take(room, tx, task, said, key);
    return isFault(next) ? next : { task: next, isRepeat: false };
  });
}

function take(room: Room, tx: Tx, task: TaskRecord, said: Report, key: string): Promise<TaskRecord | Fault> {
  switch (said.kind) {
    case 'state':
      return changeState(room, tx, task, { state: said.state, message: said.message, key });
    case 'artifact':
      return addArtifact(room, tx, task, said, key);
    case 'message':
      return replyDirectly(room, tx, task, said.message, key);
  }
}

type Change = { state: TaskState; message: JsonObject | null; key: string | null };

async function changeState(room: Room, tx: Tx, before: TaskRecord, change: Change): Promise<TaskRecord> {
  const { state, message, key } = change;
  // Begun twice is begun: there is nothing to say.
  if (state === 'working' && before.state === 'working' && message === null) return before;
  const now = room.clock.now();
  if (state !== before.state) {
    await record(room, tx, now, {
      actor: `agent:${before.agent}`,
      action: `task.${state}`,
      subject: before.id,
      data: {},
    });
  }
  let task = await closeQuestion(room, tx, before, 'Answered elsewhere: the agent has gone on.');
  task = await append(room, tx, task, { kind: 'status', note: state, body: message, key }, now);
  if (isInterrupted(state)) task = await openQuestion(room, tx, task);
  return save(tx, task);
}

async function addArtifact(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  said: Extract<Report, { kind: 'artifact' }>,
  key: string,
): Promise<TaskRecord | Fault> {
  const kept = await keepContent(room, tx, task, said.artifact, said.content);
  if (isFault(kept)) return kept;
  const note = artifactNote(said.append, said.lastChunk);
  const entry = { kind: 'artifact' as const, note, body: kept, key };
  return save(tx, await append(room, tx, task, entry, room.clock.now()));
}

/**
 * A message for an answer: the caller gets it and no task, as long as nobody has been shown one (A7). Otherwise it is
 * what the task ends with.
 */
async function replyDirectly(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  message: JsonObject,
  key: string,
): Promise<TaskRecord> {
  const isFirstWord = task.length === 1 && room.clock.now() <= task.awaitedUntil;
  if (!isFirstWord) return changeState(room, tx, task, { state: 'completed', message, key });
  const now = room.clock.now();
  await record(room, tx, now, {
    actor: `agent:${task.agent}`,
    action: 'task.replied',
    subject: task.id,
    data: {},
  });
  const replied = await append(room, tx, task, { kind: 'message', note: '', body: message, key }, now);
  return save(tx, { ...replied, state: 'completed', isDirect: true });
}
