import { placeDecisionEvent } from '../../events/decision-event.ts';
import { Fault } from '../../faults.ts';
import type { DeliveryId, SpaceId } from '../../ids.ts';
import { memberText } from '../../json-text.ts';
import { type Room, record, stamp } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { resumeTask } from '../../tasks/ask.ts';
import type { Micros } from '../../time.ts';
import { answerIdentity, openText } from '../content/sealed.ts';
import type { Delivery } from '../delivery.ts';
import { earlierSection } from '../delivery.ts';
import { onDelivery } from '../on-delivery.ts';
import type { Decision } from './decision.ts';
import { answeredBytes } from './response.ts';
import { settleAnswer } from './settle.ts';

export type Decided = { delivery: Delivery; decision: Decision };

/** The window of a held decision has ended: now every surface may know. Called by the ticker, and safe to repeat. */
export function settleHeld(room: Room, space: SpaceId, id: DeliveryId): Promise<Decided | Fault> {
  return onDelivery(room, { space, id }, async (tx, delivery) => {
    const decision = await tx.decisions.current(id);
    const due = delivery.state === 'held' && decision !== null && hasEnded(decision, room.clock.now());
    if (!due) return new Fault('nothing_held', 'There is no decision here whose undo window has ended.');
    await record(room, tx, room.clock.now(), {
      actor: 'system',
      action: 'decision.effective',
      subject: id,
      data: { decision: decision.seq },
    });
    const sealed = await tx.decisions.answer(decision.seq);
    if (sealed === null) throw new Error(`decision ${decision.seq} has no answer`);
    const answer = openText(room, sealed, answerIdentity(decision));
    return takeEffect(room, tx, delivery, { decision, answer });
  });
}

/** Also ended if it was decided in the future: the clock was set back, and the window would last for hours. */
function hasEnded({ decidedAt, effectAt }: Decision, now: Micros): boolean {
  return effectAt <= now || decidedAt > now;
}

/**
 * One transaction makes the answer visible everywhere: poll, sweep, callback (core rule 2). `answer` is the opened
 * text of what was sealed.
 */
export async function takeEffect(
  room: Room,
  tx: Tx,
  delivery: Delivery,
  { decision, answer }: { decision: Decision; answer: string },
): Promise<Decided> {
  const respondedAt = await stamp(room, tx, delivery.agent);
  const { feedback } = JSON.parse(answer) as { feedback: string | null };
  const body = answeredBytes({
    deliveryId: delivery.id,
    verdict: decision.verdict,
    feedback,
    editedContent: memberText(answer, 'edited_content'),
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
  await resumeTask(room, tx, answered, body);
  await tx.decisions.setState(decision.seq, 'effective');
  await tx.drafts.removeOn(delivery.id);
  return { delivery: answered, decision: { ...decision, state: 'effective' } };
}
