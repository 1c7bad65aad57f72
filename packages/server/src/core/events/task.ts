import { Fault } from '../faults.ts';
import type { Room } from '../room.ts';
import { toIso } from '../time.ts';
import type { Reader } from './cursor.ts';
import { taskStatusAfter } from './event.ts';
import { envelopeText } from './outgoing.ts';
import type { Page, StoredEvent } from './store.ts';

type Artifact = { event_id: string; uri: string; content_type: string; summary: string };

export type TaskView = {
  task_id: string;
  status: string;
  updated_at: string;
  events: string[];
  artifacts: Artifact[];
};

/** The newest of a task's events are what tells its state. */
const MOST_EVENTS = 200;

/** The state of a task, from its own events alone, found by index (K16). */
export function readTask(room: Room, reader: Reader, taskId: string): Promise<TaskView | Fault> {
  return room.store.read(reader.space, async (tx) => {
    const page = await tx.entries.byTask(reader.agent, taskId, MOST_EVENTS);
    const last = page.at(-1);
    if (last === undefined) return new Fault('not_found', 'No event in your inbox belongs to this task.');
    return {
      task_id: taskId,
      status: statusAfter(page),
      updated_at: toIso(last.entry.receivedAt),
      // An event that was put in again is still one event.
      events: [...new Set(page.map(({ entry }) => entry.eventId))],
      artifacts: artifactsIn(room, page),
    };
  });
}

function statusAfter(page: Page): string {
  let status = 'unknown';
  for (const { entry } of page) status = taskStatusAfter(entry.eventType) ?? status;
  return status;
}

function artifactsIn(room: Room, page: Page): Artifact[] {
  const events = new Map(page.map(({ event }) => [event.seq, event]));
  return [...events.values()].flatMap((event) => artifactOf(room, event));
}

function artifactOf(room: Room, event: StoredEvent): Artifact[] {
  const { event_id, knowledge } = JSON.parse(envelopeText(room, event)) as {
    event_id: string;
    knowledge: { uri?: string | null; content_type: string; summary: string };
  };
  if (typeof knowledge.uri !== 'string') return [];
  return [{ event_id, uri: knowledge.uri, content_type: knowledge.content_type, summary: knowledge.summary }];
}
