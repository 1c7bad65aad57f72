import { faultOf, LanternError } from '../faults.ts';
import { type Rejected, toAnswer } from './answer.ts';
import { checkOnce } from './check.ts';
import { foreign } from './journal.ts';
import type { CallOptions, Parts } from './parts.ts';
import type { WithdrawBody } from './wire.ts';

export async function withdraw(
  parts: Parts,
  deliveryId: string,
  options: CallOptions & WithdrawBody,
): Promise<Rejected> {
  if ((await parts.journal.find(deliveryId)) === null) throw foreign(deliveryId);
  const body: WithdrawBody = { reason: options.reason };
  await parts.journal.record('withdrawing', { delivery_id: deliveryId, ...body });
  const path = `/wake/v1/withdraw/${encodeURIComponent(deliveryId)}`;
  const conflict = await parts.http.send({ method: 'POST', path, body }, options.signal).then(
    () => null,
    (error: unknown) => {
      if (faultOf(error) === 'conflict') return error;
      throw error;
    },
  );
  // A retry after a lost reply may get 409 because it was already withdrawn: the delivery's current state decides.
  const answer = toAnswer(await checkOnce(parts, deliveryId, { signal: options.signal }));
  if (answer.status === 'rejected' && (answer.withdrawnAt !== null || conflict === null)) return answer;
  throw conflict ?? notWithdrawn(deliveryId);
}

function notWithdrawn(deliveryId: string): LanternError {
  const message = `The server accepted the withdrawal of ${deliveryId} but still shows it as open: check it again.`;
  return new LanternError('bad_reply', message);
}
