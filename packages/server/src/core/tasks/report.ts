import type { Tier } from '../agents/key.ts';
import type { JsonObject } from '../canonical.ts';
import { Fault, isFault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import { closeQuestion, openQuestion } from './ask.ts';
import { keepContent, type PreparedContent } from './content/content.ts';
import { append, frameKey, olderFrameKey, refuseMore, save } from './log/log.ts';
import { rememberNext } from './log/log-memory.ts';
import { taskEnded } from './open.ts';
import { isFirstWord, isOfStream } from './reading/show.ts';
import { artifactNote, isInterrupted, isTerminal, type TaskRecord, type TaskState } from './task.ts';

/** Something an agent says about one of its tasks (A13). */
export type Report = {
  space: SpaceId;
  agent: AgentId;
  /** Of the key that it came with. */
  tier: Tier;
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

export type Reported = {
  task: TaskRecord;
  isRepeat: boolean;
  /** When the log grew by this report; null when the report said nothing new. */
  grewAt: Micros | null;
};

/** The same on its way into the log: plain values, fit for another thread. */
export type PreparedReport = Pick<Report, 'space' | 'agent' | 'tier' | 'frameId' | 'taskId' | 'kind'> & {
  /** The new state, if the report is about a state. */
  state: TaskState | null;
  /** What stands in the log, as JSON: a message or an artifact. */
  text: string | null;
  /** For an artifact only. */
  append: boolean;
  lastChunk: boolean;
  content: readonly PreparedContent[];
};

export async function report(room: Room, said: Report): Promise<Reported | Fault> {
  const prepared = prepare(said);
  const reported = await (room.intake?.take('report', prepared) ?? takeReport(room, prepared));
  if (!isFault(reported)) remember(room, said, reported, prepared.text?.length ?? 0);
  return reported;
}

const NO_CONTENT: readonly PreparedContent[] = [];

function prepare(said: Report): PreparedReport {
  const { space, agent, tier, frameId, taskId, kind } = said;
  const body = said.kind === 'artifact' ? said.artifact : said.message;
  const isArtifact = said.kind === 'artifact';
  return {
    space,
    agent,
    tier,
    frameId,
    taskId,
    kind,
    state: said.kind === 'state' ? said.state : null,
    text: body === null ? null : JSON.stringify(body),
    append: isArtifact && said.append,
    lastChunk: isArtifact && said.lastChunk,
    content: isArtifact ? said.content : NO_CONTENT,
  };
}

/** The laptop may touch only its own agent's tasks (A22), and never one that has ended (A9). */
export function takeReport(room: Room, said: PreparedReport): Promise<Reported | Fault> {
  const heads: HeadName[] = ['ledger', `agent:${said.agent}`];
  return room.store.write(said.space, heads, async (tx): Promise<Reported | Fault> => {
    const task = await tx.tasks.get(said.taskId);
    if (task === null || task.agent !== said.agent)
      return new Fault('not_found', 'There is no task with this id for this agent.');
    const key = frameKey(room, task, said.frameId);
    const olderKey = () => olderFrameKey(room, said.agent, said.frameId);
    if (await wasSaid(tx, task, { key, olderKey })) return { task, isRepeat: true, grewAt: null };
    if (isTerminal(task.state)) return taskEnded(task);
    const full = endsTask(said) ? null : refuseMore(task, said.text);
    if (full !== null) return full;
    const at = room.clock.now();
    const next = await take(room, tx, task, { said, key, at });
    if (isFault(next)) return next;
    return { task: next, isRepeat: false, grewAt: next.length > task.length ? at : null };
  });
}

function endsTask({ kind, state }: PreparedReport): boolean {
  return kind === 'message' || (state !== null && isTerminal(state));
}

type Keys = { key: string; olderKey(): string };

async function wasSaid(tx: Tx, { length }: TaskRecord, { key, olderKey }: Keys): Promise<boolean> {
  // The log holds only the opening message, so nothing can be a repetition.
  if (length === 1) return false;
  const earlier = (await tx.tasks.byKey(key)) ?? (await tx.tasks.byKey(olderKey()));
  return earlier !== null;
}

/** Not for chunks: they come by the thousand, and nobody asks for the whole after each one. */
function remember(room: Room, said: Report, { task, grewAt }: Reported, bytes: number): void {
  if (said.kind === 'artifact' || grewAt === null) return;
  const entry = task.isDirect
    ? { kind: 'message' as const, note: '' }
    : { kind: 'status' as const, note: task.state };
  rememberNext(room, task, { ...entry, at: grewAt, body: said.message }, bytes);
}

/** A report, the key by which its repetition is recognised, and when it came. */
type Saying = { said: PreparedReport; key: string; at: Micros };

function take(room: Room, tx: Tx, task: TaskRecord, saying: Saying): Promise<TaskRecord | Fault> {
  const { said } = saying;
  switch (said.kind) {
    case 'state':
      return changeState(room, tx, task, { ...saying, state: said.state ?? task.state });
    case 'artifact':
      return addArtifact(room, tx, task, saying);
    case 'message':
      return replyDirectly(room, tx, task, saying);
  }
}

type Change = Saying & { state: TaskState };

async function changeState(room: Room, tx: Tx, before: TaskRecord, change: Change): Promise<TaskRecord> {
  const { state, said, key, at } = change;
  const { text: message, tier } = said;
  // A task that is already working cannot begin again: there is nothing to record.
  if (state === 'working' && before.state === 'working' && message === null) return before;
  if (state !== before.state) {
    await record(room, tx, at, {
      actor: `agent:${before.agent}`,
      action: `task.${state}`,
      subject: before.id,
      data: {},
    });
  }
  let task = await closeQuestion(room, tx, before, 'Answered elsewhere: the agent has moved on.');
  if (isOfStream(task)) task = { ...task, awaitedUntil: 0 };
  task = await append(room, tx, task, { kind: 'status', note: state, body: message, key, at });
  if (isInterrupted(state)) task = await openQuestion(room, tx, { task, tier });
  return save(tx, task);
}

async function addArtifact(
  room: Room,
  tx: Tx,
  task: TaskRecord,
  { said, key, at }: Saying,
): Promise<TaskRecord | Fault> {
  const kept = await keepContent(room, tx, task, { text: said.text ?? '', content: said.content });
  if (isFault(kept)) return kept;
  const note = artifactNote(said.append, said.lastChunk);
  return save(tx, await append(room, tx, task, { kind: 'artifact', note, body: kept, key, at }));
}

/**
 * A message as the answer: the caller gets it instead of a task, as long as nobody was shown one (A7). Otherwise the
 * task ends with it.
 */
async function replyDirectly(room: Room, tx: Tx, task: TaskRecord, saying: Saying): Promise<TaskRecord> {
  const { said, key, at } = saying;
  if (!(await isFirstWord(tx, task, at)))
    return changeState(room, tx, task, { ...saying, state: 'completed' });
  await record(room, tx, at, {
    actor: `agent:${task.agent}`,
    action: 'task.replied',
    subject: task.id,
    data: {},
  });
  const replied = await append(room, tx, task, { kind: 'message', note: '', body: said.text, key, at });
  return save(tx, { ...replied, state: 'completed', isDirect: true });
}
