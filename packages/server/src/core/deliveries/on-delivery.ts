import { headsOfDecisionEvent } from '../events/decision-event.ts';
import { Fault } from '../faults.ts';
import type { DeliveryId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Delivery } from './delivery.ts';

const NOT_FOUND = 'There is no delivery with this id in your space.';

/**
 * Heads are named before the transaction starts, but the agent is only known from the delivery's row: so it is read
 * first.
 */
async function headsFor(room: Room, space: SpaceId, id: DeliveryId): Promise<HeadName[] | null> {
  const delivery = await room.store.read(space, (tx) => tx.deliveries.get(id));
  if (delivery === null) return null;
  // The last head is that of the task that a decision resumes (A17).
  const { agent } = delivery;
  return ['ledger', `agent:${agent}`, ...headsOfDecisionEvent(agent), `frames:${agent}`];
}

/** Finds the delivery and runs `work` on it in one transaction, with its agent's head locked. */
export async function onDelivery<T>(
  room: Room,
  at: { space: SpaceId; id: DeliveryId },
  work: (tx: Tx, delivery: Delivery) => Promise<T | Fault>,
): Promise<T | Fault> {
  const heads = await headsFor(room, at.space, at.id);
  if (heads === null) return new Fault('not_found', NOT_FOUND);
  return room.store.write(at.space, heads, async (tx) => {
    const delivery = await tx.deliveries.get(at.id);
    return delivery === null ? new Fault('not_found', NOT_FOUND) : work(tx, delivery);
  });
}
