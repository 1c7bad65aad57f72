import type { KeyRecord } from '../agents/key.ts';
import { Fault } from '../faults.ts';
import type { DeliveryId } from '../ids.ts';
import { type Room, record, stamp } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import { answeredBytes } from './decision/response.ts';
import { dropHeld, settleAnswer } from './decision/settle.ts';
import type { Delivery } from './delivery.ts';
import { earlierSection } from './delivery.ts';
import { onDelivery } from './on-delivery.ts';

/**
 * The agent takes back what nobody has decided (W27). A held decision does not stop it: refusing would tell the
 * agent that there is one (core rule 5), so the withdrawal wins and the desk says so.
 */
export function withdraw(
  room: Room,
  key: KeyRecord,
  id: DeliveryId,
  reason: string,
): Promise<Delivery | Fault> {
  return onDelivery(room, { space: key.space, id }, async (tx, delivery) => {
    if (delivery.agent !== key.agent) return new Fault('not_found', 'There is no delivery with this id.');
    if (delivery.state === 'withdrawn') return delivery;
    if (delivery.state === 'decided') {
      return new Fault(
        'not_pending',
        'A person has already answered this delivery; read the answer instead.',
      );
    }
    return takeBack(room, tx, { key, delivery, reason });
  });
}

async function takeBack(
  room: Room,
  tx: Tx,
  w: { key: KeyRecord; delivery: Delivery; reason: string },
): Promise<Delivery> {
  const at = await stamp(room, tx, w.key.agent);
  await record(room, tx, at, {
    actor: `agent:${w.key.agent}`,
    action: 'delivery.withdrawn',
    subject: w.delivery.id,
    data: { reason_sha256: room.vault.sha256(w.reason) },
  });
  return close(room, tx, w.delivery, { at, feedback: `Withdrawn by the agent: ${w.reason}` });
}

/** Closes a delivery without a decision; one that was held is dropped. */
export async function close(
  room: Room,
  tx: Tx,
  delivery: Delivery,
  { at, feedback }: { at: Micros; feedback: string },
): Promise<Delivery> {
  if (delivery.state === 'held') await dropHeld(tx, delivery);
  const closed: Delivery = {
    ...delivery,
    status: 'rejected',
    state: 'withdrawn',
    changedAt: at,
    withdrawnAt: at,
    effectAt: null,
    snoozedUntil: null,
    ...earlierSection(at),
  };
  const body = answeredBytes({
    deliveryId: delivery.id,
    verdict: 'rejected',
    feedback,
    editedContent: null,
    respondedAt: at,
    withdrawnAt: at,
  });
  await settleAnswer(room, tx, closed, body);
  return closed;
}
