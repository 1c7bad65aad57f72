import { type Answer, toAnswer } from './answer.ts';
import type { Parts } from './parts.ts';
import { verifyWebhook, type WebhookRefusal, type WebhookRequest } from './webhook.ts';

/** A callback that may be acted on, or the reason why not. */
export type Received =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly reason: WebhookRefusal | 'foreign_delivery' };

export async function receive(parts: Parts, request: WebhookRequest): Promise<Received> {
  const verified = await verifyWebhook({ now: parts.clock.now(), ...request });
  if (!verified.ok) return verified;
  const answer = toAnswer(verified.response);
  // A callback announces a decision, and "pending" is not one.
  if (answer.status === 'pending') return { ok: false, reason: 'bad_body' };
  if ((await parts.journal.find(answer.deliveryId)) === null) {
    await parts.journal.record('refused', { delivery_id: answer.deliveryId });
    return { ok: false, reason: 'foreign_delivery' };
  }
  await parts.journal.recordAnswer(verified.response);
  return { ok: true, answer };
}
