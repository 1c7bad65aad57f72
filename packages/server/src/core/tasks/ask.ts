import type { Tier } from '../agents/key.ts';
import type { JsonObject } from '../canonical.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import { putQuestion } from '../deliveries/question.ts';
import { close } from '../deliveries/withdraw.ts';
import { type Room, record, stamp } from '../room.ts';
import type { Tx } from '../store.ts';
import { chooseLink, liveLinks, queueFrame } from './frames.ts';
import { DECISION_NOTE, decisionMessage, toTaskDecision } from './log/decision-message.ts';
import { append, openEntry, save } from './log/log.ts';
import { textOf, viewTask } from './reading/read.ts';
import { isTerminal, statusOf, type TaskRecord, type TaskView } from './task.ts';

/** As much as a delivery may have: otherwise each word from the agent could copy megabytes onto the desk (A24). */
const QUESTION_BYTES = 1024 * 1024;

type Asked = Pick<TaskView, 'status' | 'artifacts'>;

// Not through the memory of logs: what is read here is not committed yet.
function lookAt({ vault }: Room, tx: Tx, task: TaskRecord): Promise<Asked> {
  return viewTask({ vault }, tx, task, { historyLength: 0 });
}

/** Only what was just said; what came before can be read in the task. */
async function lastWords(room: Room, tx: Tx, task: TaskRecord): Promise<Asked> {
  const last = await tx.tasks.entry(task.seq, task.length);
  if (last === null) throw new Error(`task ${task.id} has lost its last entry`);
  return { status: statusOf(openEntry(room, task, last)) };
}

/** The agent needs a person: its words and artifacts become a question on the desk (A17). */
export async function openQuestion(
  room: Room,
  tx: Tx,
  { task, tier }: { task: TaskRecord; tier: Tier },
): Promise<TaskRecord> {
  const isLong = task.logBytes > QUESTION_BYTES;
  const { status, artifacts } = await (isLong ? lastWords : lookAt)(room, tx, task);
  const isAuth = task.state === 'auth_required';
  const text = textOf(status.message);
  const details: JsonObject = {
    question: text === '' ? null : text,
    ...(status.message === undefined ? {} : { parts: status.message.parts ?? [] }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(isLong ? { artifacts_left_out: true } : {}),
    state: task.state,
    caller: task.caller,
  };
  const words = text || (isAuth ? 'The agent needs a login' : 'The agent needs an answer');
  const delivery = await putQuestion(room, tx, {
    agent: task.agent,
    provider: 'a2a',
    words,
    details,
    parts: artifacts?.length ?? 0,
    taskId: task.id,
    threadId: task.context,
    interruptId: null,
    causeEvent: null,
    actor: `agent:${task.agent}`,
    tier,
  });
  return { ...task, delivery: delivery.id };
}

/** Somebody else has answered, so there is nothing left to decide; the delivery says why. */
export async function closeQuestion(room: Room, tx: Tx, task: TaskRecord, why: string): Promise<TaskRecord> {
  if (task.delivery === null) return task;
  const open = await tx.deliveries.get(task.delivery);
  const without = { ...task, delivery: null };
  if (open === null || (open.state !== 'pending' && open.state !== 'held')) return without;
  const at = await stamp(room, tx, task.agent);
  await record(room, tx, at, {
    actor: 'system',
    action: 'delivery.answered_elsewhere',
    subject: open.id,
    data: { task: task.id },
  });
  await close(room, tx, open, { at, feedback: why });
  return without;
}

/** A person's decision is the next message of the task, in the transaction in which it takes effect (A17). */
export async function resumeTask(room: Room, tx: Tx, answered: Delivery, answerBytes: string): Promise<void> {
  if (answered.taskId === null) return;
  const found = await tx.tasks.get(answered.taskId);
  // An approval covers only the question it answers: a later question of the task is another delivery.
  if (found === null || found.delivery !== answered.id || isTerminal(found.state)) return;
  const decision = toTaskDecision(answerBytes);
  const body = decisionMessage(room.ids.uuid(), answered, decision);
  const now = room.clock.now();
  const links = await liveLinks(room, tx, found.agent);
  let task: TaskRecord = { ...found, delivery: null, link: chooseLink(links, found) };
  task = await append(room, tx, task, { kind: 'message', note: DECISION_NOTE, body, key: null, at: now });
  const pos = task.length;
  task = await append(room, tx, task, { kind: 'status', note: 'working', body: null, key: null, at: now });
  await record(room, tx, now, {
    actor: 'system',
    action: 'task.resumed',
    subject: task.id,
    data: { delivery: answered.id },
  });
  const { edited_content } = decision;
  const told = { deliveryId: answered.id, decision: { ...decision, edited_content: edited_content.json } };
  await queueFrame(room, tx, task, { type: 'decision', pos, body: told });
  await save(tx, task);
}
