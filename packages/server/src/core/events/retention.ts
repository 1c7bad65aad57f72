import type { AgentId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import type { Entry } from './event.ts';
import { UNACKED_KEPT } from './subscriptions/subscription.ts';

const STEP = 500;

/**
 * One after the other, on all replicas: two who take the last two entries of an event away at once would each see the
 * other's, and leave the event behind for ever; and what one has blanked of a record the other would write again.
 */
export const LEAVING: readonly HeadName[] = ['leaving'];

/** Its retention has ended; an entry that was not acknowledged stays at least a week (K17). */
export function mayLeave({ keptUntil, receivedAt, ack }: Entry, now: Micros): boolean {
  return keptUntil <= now && (ack !== null || receivedAt + UNACKED_KEPT <= now);
}

type Inbox = { space: SpaceId; agent: AgentId; now: Micros };

/**
 * Removes old entries of an agent, a few at a time and only from the front of the inbox, so that offsets have no gaps:
 * an entry that may leave waits for those before it. True when there may be more.
 */
export async function retireEvents(room: Room, { space, agent, now }: Inbox): Promise<boolean> {
  const [oldest] = await room.store.read(space, (tx) => tx.entries.front(agent, 1));
  if (oldest === undefined || !mayLeave(oldest, now)) return false;
  return (await room.store.write(space, LEAVING, (tx) => retire(tx, agent, now))) === STEP;
}

/**
 * Otherwise an agent that opens no further wait would keep its expired ones open for ever, and open waits are never
 * removed.
 */
export async function closeExpiredWaits(room: Room, { space, agent, now }: Inbox): Promise<void> {
  const isDue = await room.store.read(space, (tx) => tx.waits.hasExpired(agent, now));
  if (isDue) await room.store.write(space, [], (tx) => tx.waits.closeExpired(agent, now));
}

async function retire(tx: Tx, agent: AgentId, now: Micros): Promise<number> {
  const front = await tx.entries.front(agent, STEP);
  const stays = front.findIndex((entry) => !mayLeave(entry, now));
  const leaving = stays < 0 ? front : front.slice(0, stays);
  const last = leaving.at(-1);
  if (last === undefined) return 0;
  await tx.entries.removeUpTo(agent, last.offset);
  await tx.waits.removeResumesUpTo(agent, last.offset);
  await tx.events.removeUnheld(leaving.map((entry) => entry.eventSeq));
  return leaving.length;
}
