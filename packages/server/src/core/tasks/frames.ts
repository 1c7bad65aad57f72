import type { JsonObject } from '../canonical.ts';
import { exactText } from '../exact-json.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Frame, Link } from './store.ts';
import type { TaskRecord } from './task.ts';

export function framesTopic(space: string, agent: AgentId): `frames:${string}` {
  return `frames:${space}:${agent}`;
}

export function frameIdentity(space: string, agent: AgentId, place: number): string {
  return `frame:${space}:${agent}:${place}`;
}

/** The connections of an agent that are there now. */
export async function liveLinks(room: Room, tx: Tx, agent: AgentId): Promise<Link[]> {
  const now = room.clock.now();
  return (await tx.links.of(agent)).filter((link) => link.until > now);
}

/** The connection that already has the task, or the one whose turn it is; null when none is there (A13, A14). */
export function chooseLink(links: readonly Link[], task: Pick<TaskRecord, 'link' | 'seq'>): string | null {
  if (links.some((link) => link.id === task.link)) return task.link;
  return links.length === 0 ? null : (links[task.seq % links.length]?.id ?? null);
}

export type NewFrame = { type: Frame['type']; pos: number; body?: JsonObject };

/** Something for the laptop, in order, kept until it is acknowledged. Needs the head `frames:…`. */
export async function queueFrame(room: Room, tx: Tx, task: TaskRecord, frame: NewFrame): Promise<void> {
  const { agent } = task;
  const head = await tx.heads.get(`frames:${agent}`);
  const place = (head?.n ?? 0) + 1;
  const at = room.clock.now();
  tx.heads.set(`frames:${agent}`, { n: place, at, text: '' });
  await tx.frames.insert(agent, {
    place,
    type: frame.type,
    task: { seq: task.seq, id: task.id },
    pos: frame.pos,
    link: task.link,
    at,
    body:
      frame.body === undefined
        ? null
        : room.vault.seal(exactText(frame.body), frameIdentity(tx.space, agent, place)),
  });
  if (task.link !== null) tx.announce(framesTopic(tx.space, agent), task.link);
}

/** Frames that their laptop has received (A13). */
export type Acknowledged = { space: SpaceId; agent: AgentId; places: readonly number[] };

export function acknowledge(room: Room, { space, agent, places }: Acknowledged): Promise<null> {
  return room.store.write(space, [], async (tx) => {
    for (const place of places) await tx.frames.acknowledge(agent, place);
    return null;
  });
}
