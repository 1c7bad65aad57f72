import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { openContent, responseIdentity } from '../content/sealed.ts';
import type { Delivery } from '../delivery.ts';
import { callbackOf } from '../delivery.ts';

/** Stores the answer's bytes, queues the callback and tells whoever waits. */
export async function settleAnswer(room: Room, tx: Tx, answered: Delivery, body: string): Promise<void> {
  await tx.deliveries.answer(answered, room.vault.seal(body, responseIdentity(answered)));
  await queueCallback(room, tx, answered, body);
  tx.announce(`answer:${answered.id}`);
  tx.announce(`desk:${tx.space}`, answered.id);
}

async function queueCallback(room: Room, tx: Tx, delivery: Delivery, body: string): Promise<void> {
  const sealed = await tx.deliveries.body(delivery.id);
  if (sealed === null) return;
  const url = callbackOf(openContent(room, sealed, delivery));
  if (url === null) return;
  const now = room.clock.now();
  const job = {
    space: tx.space,
    id: room.ids.timed(now),
    kind: 'callback' as const,
    agent: delivery.agent,
    delivery: delivery.id,
    origin: new URL(url).origin,
    state: 'due' as const,
    // Not the stamp: after a clock was set back the stamp is in the future, and the callback would wait for it.
    dueAt: now,
    attempts: 0,
    fence: 0,
    leasedUntil: null,
    createdAt: delivery.changedAt,
  };
  await tx.jobs.insert(job, { url, body, tier: delivery.tier });
  tx.announce('jobs');
}

/** Undoes a decision that had not taken effect yet. */
export async function dropHeld(tx: Tx, delivery: Delivery): Promise<void> {
  const held = await tx.decisions.current(delivery.id);
  if (held !== null) await tx.decisions.setState(held.seq, 'undone');
}
