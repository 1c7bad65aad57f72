import { type Checked, type Draft, faultOf, type Unanswered } from '@lanternroom/sdk/wake';
import type { ReviewOptions } from './review.ts';

/**
 * The answer to the question with this key, which is asked unless it was asked before. A question that the server no
 * longer has, because it was set up again or has removed it, is asked again: no answer to it can come.
 */
export async function answerTo(
  key: string,
  draft: () => Draft,
  options: ReviewOptions,
): Promise<Checked | Unanswered> {
  const { wake, signal } = options;
  // The server keeps an idempotency key for a day and a dedupe key while the question is open; the log keeps it for
  // good.
  const earlier = await wake.recall(key, { signal });
  const known = earlier === null ? null : await lookAt(earlier, options).catch(nullWhenGone);
  if (known !== null) return known;
  const asked = { ...draft(), dedupeKey: key };
  const { deliveryId } = await wake.deliver(asked, { idempotencyKey: key, signal });
  return lookAt(deliveryId, options);
}

async function lookAt(
  deliveryId: string,
  { wake, wait, signal }: ReviewOptions,
): Promise<Checked | Unanswered> {
  return wait === false ? wake.check(deliveryId, { signal }) : wake.waitFor(deliveryId, { signal });
}

function nullWhenGone(error: unknown): null {
  if (faultOf(error) !== 'not_found') throw error;
  return null;
}
