import type { Delivery, Verdict } from '../../core/deliveries/delivery.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { fromDelivery, type Seen } from '../mapping.ts';

/** Rows, with what they say beyond their deliveries. */
export async function showRows(room: Room, tx: Tx, deliveries: readonly Delivery[]) {
  const seen: Seen = {
    now: room.clock.now(),
    samples: await tx.agents.samples(),
    held: await heldAmong(tx, deliveries),
  };
  return deliveries.map((delivery) => fromDelivery(delivery, seen));
}

/** A delivery's own status is the agent's, who must not know yet. Few are held at a time: for seconds each. */
async function heldAmong(tx: Tx, deliveries: readonly Delivery[]): Promise<Map<string, Verdict>> {
  const held = deliveries.filter(({ state }) => state === 'held');
  const found = await Promise.all(held.map(({ id }) => tx.decisions.current(id)));
  return new Map(
    found.flatMap((decision) => (decision === null ? [] : [[decision.delivery, decision.verdict]])),
  );
}
