import { judgeTarget } from '../../core/agents/allowlist.ts';
import type { Room } from '../../core/room.ts';
import type { Job } from '../../core/sending/job.ts';
import type { Request } from '../../core/store.ts';
import { SECOND } from '../../core/time.ts';
import type { Prepared, SignCallback } from './prepared.ts';

const UNSUBSCRIBED: Prepared = { kind: 'over', outcome: 'unsubscribed' };

/**
 * An event for a subscription, signed with the subscription's own secret (K19). Without the subscription nobody wants
 * it any more; the allowlist is asked again, as for every callback (W21).
 */
export async function prepareForward(
  { room, sign }: { room: Room; sign: SignCallback },
  job: Job,
  request: Request,
): Promise<Prepared> {
  const { subscription, secret, agent } = await readFacts(room, job, request);
  if (subscription === null || secret === null || agent === null) return UNSUBSCRIBED;
  if (subscription.body.delivery.url !== request.url) return UNSUBSCRIBED;
  const verdict = judgeTarget(request.url, agent.callbacks, subscription.tier);
  if (!verdict.allowed) return { kind: 'refused', outcome: 'target_not_allowed' };
  const body = Buffer.from(request.body);
  const timestamp = Math.floor(room.clock.now() / SECOND);
  // The event's id is the message's, so the receiver may be an AKEP one like us.
  const signed = sign({ secrets: [secret], body, id: job.delivery, timestamp });
  const headers = withoutWake(signed);
  const allowLoopback = subscription.tier === 'test';
  return { kind: 'http', request: { url: verdict.url, method: 'POST', headers, body, allowLoopback } };
}

function readFacts(room: Room, job: Job, { subscription: id = '' }: Request) {
  return room.store.read(job.space, async (tx) => ({
    subscription: await tx.subscriptions.get(id),
    secret: await tx.subscriptions.secret(id),
    agent: await tx.agents.get(job.agent),
  }));
}

/** Standard Webhooks only. */
function withoutWake(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { 'x-wake-signature': _signature, 'x-wake-delivery-id': _id, ...standard } = headers;
  return standard;
}
