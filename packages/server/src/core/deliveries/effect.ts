import { placeDecisionEvent } from '../events/decision-event.ts';
import { Fault } from '../faults.ts';
import type { DeliveryId, SpaceId } from '../ids.ts';
import { type Room, record, stamp } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Decision } from './decision.ts';
import type { Delivery } from './delivery.ts';
import { callbackOf, earlierSection } from './delivery.ts';
import { onDelivery } from './on-delivery.ts';
import { answeredBytes } from './response.ts';
import { answerIdentity, openContent, openText, responseIdentity } from './sealed.ts';

export type Decided = { delivery: Delivery; decision: Decision };

/** The window of a held decision has ended: now every surface may know. Called by the ticker, and safe to repeat. */
export function settleHeld(room: Room, space: SpaceId, id: DeliveryId): Promise<Decided | Fault> {
  return onDelivery(room, { space, id }, async (tx, delivery) => {
    const decision = await tx.decisions.current(id);
    const due = delivery.state === 'held' && decision !== null && decision.effectAt <= room.clock.now();
    if (!due) return new Fault('nothing_held', 'There is no decision here whose undo window has ended.');
    await record(room, tx, room.clock.now(), {
      actor: 'system',
      action: 'decision.effective',
      subject: id,
      data: { decision: decision.seq },
    });
    return takeEffect(room, tx, delivery, decision);
  });
}

/** One transaction makes the answer visible everywhere: poll, sweep, callback (core rule 2). */
export async function takeEffect(
  room: Room,
  tx: Tx,
  delivery: Delivery,
  decision: Decision,
): Promise<Decided> {
  const respondedAt = await stamp(room, tx, delivery.agent);
  const sealed = await tx.decisions.answer(decision.seq);
  if (sealed === null) throw new Error(`decision ${decision.seq} has no answer`);
  const { feedback, edited_content } = JSON.parse(openText(room, sealed, answerIdentity(decision)));
  const body = answeredBytes({
    deliveryId: delivery.id,
    verdict: decision.verdict,
    feedback,
    editedContent: edited_content,
    respondedAt,
  });
  const answered: Delivery = {
    ...delivery,
    status: decision.verdict,
    state: 'decided',
    changedAt: respondedAt,
    effectAt: null,
    snoozedUntil: null,
    ...earlierSection(respondedAt),
  };
  await settleAnswer(room, tx, answered, body);
  await placeDecisionEvent(room, tx, answered, body);
  await tx.decisions.setState(decision.seq, 'effective');
  await tx.drafts.removeOn(delivery.id);
  return { delivery: answered, decision: { ...decision, state: 'effective' } };
}

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
  const job = {
    space: tx.space,
    id: room.ids.uuid(),
    kind: 'callback' as const,
    agent: delivery.agent,
    delivery: delivery.id,
    origin: new URL(url).origin,
    state: 'due' as const,
    // Not the stamp: that runs ahead of a clock that was set back, and the callback would wait for it.
    dueAt: room.clock.now(),
    attempts: 0,
    fence: 0,
    leasedUntil: null,
    createdAt: delivery.changedAt,
  };
  await tx.jobs.insert(job, { url, body });
  tx.announce('jobs');
}
