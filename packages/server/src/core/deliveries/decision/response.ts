import { type Micros, toIso } from '../../time.ts';
import type { Delivery, Verdict } from '../delivery.ts';

/**
 * The one answer. Its bytes are made once, when the decision takes effect, and are the same on every surface
 * (poll, sweep, callback): L4.
 */
export function answeredBytes(answer: {
  deliveryId: string;
  verdict: Verdict;
  feedback: string | null;
  /** JSON text: its numbers keep the digits they were given with. */
  editedContent: string | null;
  respondedAt: Micros;
  withdrawnAt?: Micros;
}): string {
  const { deliveryId: delivery_id, verdict: status, feedback } = answer;
  const before = JSON.stringify({ delivery_id, status, feedback });
  const after = JSON.stringify({
    responded_at: toIso(answer.respondedAt),
    ...(answer.withdrawnAt === undefined ? {} : { withdrawn_at: toIso(answer.withdrawnAt) }),
  });
  return `${before.slice(0, -1)},"edited_content":${answer.editedContent ?? 'null'},${after.slice(1)}`;
}

/** Nobody has answered, as far as the wire may know; a held decision looks like this too (core rule 5). */
export function pendingBytes(delivery: Pick<Delivery, 'id'>, timedOut: Micros | null): string {
  return JSON.stringify({
    delivery_id: delivery.id,
    status: 'pending',
    feedback: null,
    edited_content: null,
    responded_at: null,
    ...(timedOut === null ? {} : { timed_out_at: toIso(timedOut) }),
  });
}
