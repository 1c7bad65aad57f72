import { Fault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import { toIso } from '../../time.ts';
import { taskStatusAfter } from '../event.ts';
import type { Reader } from '../inbox/cursor.ts';
import { envelopeText } from '../inbox/outgoing.ts';
import type { OfTask, StoredEvent } from '../store.ts';

type Artifact = { event_id: string; uri: string; content_type: string; summary: string };

export type TaskView = {
  task_id: string;
  status: string;
  updated_at: string;
  events: string[];
  artifacts: Artifact[];
};

/** The state of a task is judged by this many of its newest events. */
const MOST_EVENTS = 200;

/** The state of a task, from A2A when it is one of ours, else from its own events; found by index (K16). */
export function readTask(room: Room, reader: Reader, taskId: string): Promise<TaskView | Fault> {
  return room.store.read(reader.space, async (tx) => {
    const page = await tx.entries.byTask(reader.agent, taskId, MOST_EVENTS);
    const last = page.at(-1);
    const own = await ownTask(tx, reader, taskId);
    const heardAt = Math.max(last?.receivedAt ?? 0, own?.changedAt ?? 0);
    if (heardAt === 0) return new Fault('not_found', 'No event in your inbox belongs to this task.');
    return {
      task_id: taskId,
      // What A2A knows about its own task is first-hand; events are hearsay.
      status: own?.state ?? (await statusAfter(tx, reader, taskId, page)),
      updated_at: toIso(heardAt),
      // An event that was replayed still counts once.
      events: [...new Set(page.map(({ eventId }) => eventId))],
      artifacts: await artifactsIn(tx, reader, page),
    };
  });
}

/** The A2A task of this id that the agent itself works on. */
async function ownTask(tx: Tx, { agent }: Reader, taskId: string): Promise<TaskRecord | null> {
  const task = await tx.tasks.get(taskId);
  return task?.agent === agent ? task : null;
}

/** The newest event that tells a state decides, even if it is older than the events that are shown. */
async function statusAfter(
  tx: Tx,
  { agent }: Reader,
  taskId: string,
  page: readonly OfTask[],
): Promise<string> {
  const telling = page.findLast(({ eventType }) => taskStatusAfter(eventType) !== null)?.eventType;
  const isAll = page.length < MOST_EVENTS;
  const type = telling ?? (isAll ? null : await tx.entries.lastTelling(agent, taskId));
  return (type === null ? null : taskStatusAfter(type)) ?? 'unknown';
}

/** Opens only bodies that name an artifact: the bodies of one task are scattered over many records. */
async function artifactsIn(tx: Tx, { agent }: Reader, page: readonly OfTask[]): Promise<Artifact[]> {
  const events = new Map<number, StoredEvent>();
  for (const { offset } of page.filter(({ hasUri }) => hasUri)) {
    const found = await tx.entries.at(agent, offset);
    if (found !== null) events.set(found.event.seq, found.event);
  }
  return [...events.values()].flatMap((event) => artifactOf(event));
}

function artifactOf(event: StoredEvent): Artifact[] {
  const { event_id, knowledge } = JSON.parse(envelopeText(event)) as {
    event_id: string;
    knowledge: { uri?: string | null; content_type: string; summary: string };
  };
  if (typeof knowledge.uri !== 'string') return [];
  return [{ event_id, uri: knowledge.uri, content_type: knowledge.content_type, summary: knowledge.summary }];
}
