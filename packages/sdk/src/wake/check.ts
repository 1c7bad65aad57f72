import { demandResponse } from './answer.ts';
import { foreign, isSameId } from './journal.ts';
import type { CallOptions, Parts } from './parts.ts';
import type { ResponseBody } from './wire.ts';

export interface CheckOptions extends CallOptions {
  /** Ask the server to hold the reply this long; a plain server ignores it (W15). */
  readonly holdSeconds?: number;
  /** When the answer is no longer waited for. */
  readonly untilMs?: number;
}

/** One look at one delivery, trusted only if the delivery is ours and the reply is about it. */
export async function checkOnce(
  parts: Parts,
  deliveryId: string,
  options: CheckOptions = {},
): Promise<ResponseBody> {
  if ((await parts.journal.find(deliveryId)) === null) throw foreign(deliveryId);
  const hold = options.holdSeconds ?? 0;
  const query = hold > 0 ? `?wait=${hold}` : '';
  const path = `/wake/v1/response/${encodeURIComponent(deliveryId)}${query}`;
  const until = options.untilMs === undefined ? {} : { untilMs: options.untilMs };
  const body = demandResponse(
    await parts.http.send({ method: 'GET', path, heldMs: hold * 1_000, ...until }, options.signal),
  );
  if (!isSameId(body.delivery_id, deliveryId)) {
    await parts.journal.record('refused', { delivery_id: body.delivery_id, asked_for: deliveryId });
    throw foreign(body.delivery_id);
  }
  await parts.journal.recordAnswer(body);
  return body;
}
