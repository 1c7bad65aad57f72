import { isRecord } from '../json.ts';
import { odd } from './entries.ts';
import { makeOnce } from './make-once.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import type { Policy, Subscription, SubscriptionBody } from './wire.ts';

/** What to take. Left out, `spec`, `sink` and `delivery` are those of an inbox that is read by long-poll. */
export type SubscriptionDraft = Pick<SubscriptionBody, 'event_types'> & Partial<SubscriptionBody>;

const PATH = '/akep/subscriptions';

export async function subscribe(
  parts: InboxParts,
  draft: SubscriptionDraft,
  call: InboxCall,
): Promise<Subscription> {
  const body = { spec: 'akep.v1', sink: 'inbox', delivery: { type: 'long_poll' }, ...draft };
  const before = (await listSubscriptions(parts, call)).map((one) => one.subscription_id);
  const make = async () => {
    const made = await parts.http.send({ method: 'POST', path: PATH, body, once: true }, call.signal);
    if (isSubscription(made)) return made;
    throw odd('a subscription');
  };
  const find = async () => {
    const found = (await listSubscriptions(parts, call)).find(
      (one) => !before.includes(one.subscription_id) && isFrom(body, one),
    );
    if (found === undefined || found.delivery.type !== 'webhook') return found;
    // Its secret was in the lost reply, so nobody could verify what it forwards.
    await unsubscribe(parts, found.subscription_id, call);
    return undefined;
  };
  // Two of them would forward everything twice, and ending one would leave the other.
  return makeOnce(parts, call, { make, find });
}

function isFrom(body: object, made: Subscription): boolean {
  const shown: Readonly<Record<string, unknown>> = { ...made };
  return Object.entries(body).every(([name, value]) => isSame(value, shown[name]));
}

/** Ignores the order of members. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isRecord(one) || !isRecord(other)) return JSON.stringify(one) === JSON.stringify(other);
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name], other[name]));
}

export async function listSubscriptions(parts: InboxParts, call: InboxCall): Promise<Subscription[]> {
  const body = await parts.http.send({ method: 'GET', path: PATH }, call.signal);
  const list = isRecord(body) ? body.subscriptions : null;
  if (Array.isArray(list) && list.every(isSubscription)) return list;
  throw odd('a list of subscriptions');
}

export async function unsubscribe(parts: InboxParts, id: string, call: InboxCall): Promise<void> {
  await parts.http.send({ method: 'DELETE', path: `${PATH}/${encodeURIComponent(id)}` }, call.signal);
}

export async function readPolicy(
  parts: InboxParts,
  change: Partial<Policy> | null,
  call: InboxCall,
): Promise<Policy> {
  const path = '/akep/policy';
  const wish =
    change === null ? ({ method: 'GET', path } as const) : { method: 'PUT' as const, path, body: change };
  const policy = await parts.http.send(wish, call.signal);
  if (isPolicy(policy)) return policy;
  throw odd('a policy');
}

function isSubscription(value: unknown): value is Subscription {
  return isRecord(value) && typeof value.subscription_id === 'string' && Array.isArray(value.event_types);
}

function isPolicy(value: unknown): value is Policy {
  return isRecord(value) && typeof value.max_resume_policy === 'string';
}
