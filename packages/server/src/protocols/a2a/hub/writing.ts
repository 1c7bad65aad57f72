import type { Json, JsonObject } from '../../../core/canonical.ts';
import { openText } from '../../../core/deliveries/content/sealed.ts';
import { ExactJson, exactText } from '../../../core/exact-json.ts';
import type { AgentId } from '../../../core/ids.ts';
import { memberText } from '../../../core/json-text.ts';
import type { Room } from '../../../core/room.ts';
import type { Tx } from '../../../core/store.ts';
import { frameIdentity } from '../../../core/tasks/frames.ts';
import { openEntry } from '../../../core/tasks/log/log.ts';
import { rememberedFirst } from '../../../core/tasks/log/log-memory.ts';
import type { Frame } from '../../../core/tasks/store.ts';
import type { TaskRecord } from '../../../core/tasks/task.ts';

/** How many earlier messages are sent along as a reminder. */
const MOST_HISTORY = 100;
const HISTORY_BYTES = 256 * 1024;

/** A frame as it goes to the laptop; null when its task is no longer there. */
export async function toHubFrame(room: Room, tx: Tx, agent: AgentId, frame: Frame): Promise<string | null> {
  const id = `h${frame.place}`;
  const { type } = frame;
  const taskId = frame.task.id;
  if (type === 'cancel') return JSON.stringify({ type, id, taskId });
  // Nearly always it was opened a moment ago and nothing needs to be read.
  const first = type === 'task' ? rememberedFirst(room, { space: tx.space, seq: frame.task.seq }) : null;
  if (first !== null) {
    const { contextId = null } = first;
    return JSON.stringify({ type, id, taskId, contextId, message: first });
  }
  const task = await tx.tasks.bySeq(frame.task.seq);
  if (task === null) return null;
  const saying = await messageAt(room, tx, task, frame.pos);
  const base = { type, id, taskId, contextId: task.context };
  if (type !== 'decision') return exactText({ ...base, ...saying });
  return exactText({ ...base, ...decisionOf(room, tx.space, agent, frame), ...saying });
}

async function messageAt(room: Room, tx: Tx, task: TaskRecord, pos: number): Promise<JsonObject> {
  // The opening message has nothing before it.
  const from = pos === 1 ? 1 : await oldestReminder(tx, task, pos);
  const said = await tx.tasks.said(task.seq, from, pos);
  const bodies = said.map((stored) => openEntry(room, task, stored).body as Json);
  const message = bodies.pop() ?? null;
  return { message, ...(bodies.length === 0 ? {} : { history: bodies }) };
}

/**
 * Where a sufficiently short history begins: a thousand messages may wait for a laptop, and each brings one along.
 * The laptop has the rest from before, or asks for it with the task.
 */
async function oldestReminder(tx: Tx, task: TaskRecord, pos: number): Promise<number> {
  const [message, ...before] = await tx.tasks.saidSizes(task.seq, pos, MOST_HISTORY + 1);
  let oldest = message?.pos ?? pos;
  let bytes = 0;
  for (const said of before) {
    bytes += said.size;
    if (bytes > HISTORY_BYTES) break;
    oldest = said.pos;
  }
  return oldest;
}

function decisionOf(room: Room, space: string, agent: AgentId, frame: Frame): JsonObject {
  if (frame.body === null) throw new Error(`frame ${frame.place} has no decision`);
  const text = openText(room, frame.body, frameIdentity(space, agent, frame.place));
  const { deliveryId, decision } = JSON.parse(text) as { deliveryId: string; decision: JsonObject };
  const { json: edited_content } = ExactJson.member(memberText(text, 'decision') ?? '{}', 'edited_content');
  return { deliveryId, decision: { ...decision, edited_content } };
}
