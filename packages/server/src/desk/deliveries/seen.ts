import type { Delivery, Verdict } from '../../core/deliveries/delivery.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { fromDelivery, type Seen } from '../mapping.ts';

/** List rows: deliveries with what is shown beside them. */
export async function showRows(room: Room, tx: Tx, deliveries: readonly Delivery[]) {
  const seen: Seen = {
    now: room.clock.now(),
    samples: await tx.agents.samples(),
    held: await heldAmong(tx, deliveries),
  };
  return deliveries.map((delivery) => fromDelivery(delivery, seen));
}

/**
 * The verdict of held decisions. The delivery's own status is what the agent sees, which must not know yet. Few are
 * held at a time, for seconds each.
 */
async function heldAmong(tx: Tx, deliveries: readonly Delivery[]): Promise<Map<string, Verdict>> {
  const held = deliveries.filter(({ state }) => state === 'held');
  const found = await Promise.all(held.map(({ id }) => tx.decisions.current(id)));
  return new Map(
    found.flatMap((decision) => (decision === null ? [] : [[decision.delivery, decision.verdict]])),
  );
}
