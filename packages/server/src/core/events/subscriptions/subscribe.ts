import { makeCallbackSecret } from '../../agents/agent.ts';
import { judgeTarget } from '../../agents/allowlist.ts';
import type { Identity } from '../../agents/key.ts';
import { Fault } from '../../faults.ts';
import type { AgentId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Reader } from '../inbox/cursor.ts';
import { everything, type Subscription, type SubscriptionBody } from './subscription.ts';

const NO_SUBSCRIPTION = 'You have no subscription with this id.';

/** A new version tells every process that remembers subscriptions that what it knows is outdated. */
async function bump(tx: Tx, now: number): Promise<void> {
  const head = await tx.heads.get('subscriptions');
  tx.heads.set('subscriptions', { n: (head?.n ?? 0) + 1, at: now, text: '' });
}

/**
 * Every subscription of a space is read, and each of its values noted, after any of them has changed. An agent that
 * made them as long as a body may be would keep everybody waiting for half a minute each time (K35).
 */
const LARGEST = 16 * 1024;

function refuse(identity: Identity, body: SubscriptionBody): Fault | null {
  return refuseLong(body) ?? refuseTarget(identity, body);
}

function refuseLong(body: SubscriptionBody): Fault | null {
  if (JSON.stringify(body).length <= LARGEST) return null;
  const message = `A subscription may have at most ${LARGEST} characters as JSON. Name fewer values, or make several of it.`;
  return new Fault('payload_too_large', message);
}

/** A forwarding address is a callback like any other: it must be on the agent's allowlist (K19, W21). */
function refuseTarget(identity: Identity, body: SubscriptionBody): Fault | null {
  if (body.delivery.type !== 'webhook') return null;
  if (body.delivery.url === undefined)
    return new Fault('invalid_field', 'A webhook delivery needs its url.', { field: '/delivery/url' });
  const verdict = judgeTarget(body.delivery.url, identity.callbacks, identity.key.tier);
  return verdict.allowed
    ? null
    : new Fault('target_not_allowed', verdict.message, { field: '/delivery/url' });
}

/** What is returned to the maker; the secret only once, when a forwarding subscription gets one. */
export type Subscribed = { subscription: Subscription; secret: string | null };

const MOST_SUBSCRIPTIONS = 100;

function tooMany(what: string, most: number): Fault {
  return new Fault('rate_limited', `An agent may have ${most} ${what}. End some first.`, { retryAfter: 60 });
}

/** A forwarding subscription signs with its own secret, made when it first forwards (K19). */
async function ensureSecret(room: Room, tx: Tx, { id, body }: Subscription): Promise<string | null> {
  if (body.delivery.type !== 'webhook' || (await tx.subscriptions.secret(id)) !== null) return null;
  const secret = makeCallbackSecret(room.ids);
  await tx.subscriptions.setSecret(id, secret);
  return secret;
}

export async function subscribe(
  room: Room,
  identity: Identity,
  body: SubscriptionBody,
): Promise<Subscribed | Fault> {
  const refused = refuse(identity, body);
  if (refused !== null) return refused;
  const { space, agent, tier } = identity.key;
  return room.store.write(space, ['ledger', 'subscriptions'], async (tx) => {
    if ((await tx.subscriptions.of(agent)).length >= MOST_SUBSCRIPTIONS)
      return tooMany('subscriptions', MOST_SUBSCRIPTIONS);
    const now = room.clock.now();
    const id = `sub_${room.ids.letters(16)}`;
    const made: Subscription = { space, id, agent, body, isDefault: false, createdAt: now, tier };
    await tx.subscriptions.insert(made);
    return note(room, tx, made, { action: 'subscription.added', now });
  });
}

export async function resubscribe(
  room: Room,
  identity: Identity,
  id: string,
  body: SubscriptionBody,
): Promise<Subscribed | Fault> {
  const refused = refuse(identity, body);
  if (refused !== null) return refused;
  return onOwn(room, identity.key, id, async (tx, before, now) => {
    const changed = { ...before, body, isDefault: false, tier: identity.key.tier };
    await tx.subscriptions.update(changed);
    return note(room, tx, changed, { action: 'subscription.changed', now });
  });
}

async function note(
  room: Room,
  tx: Tx,
  subscription: Subscription,
  { action, now }: { action: string; now: number },
): Promise<Subscribed> {
  const secret = await ensureSecret(room, tx, subscription);
  await bump(tx, now);
  await record(room, tx, now, {
    actor: `agent:${subscription.agent}`,
    action,
    subject: subscription.id,
    data: { event_types: subscription.body.event_types },
  });
  tx.announce(`desk:${tx.space}`, 'events');
  return { subscription, secret };
}

export function unsubscribe(room: Room, reader: Reader, id: string): Promise<Subscription | Fault> {
  return onOwn(room, reader, id, async (tx, before, now) => {
    await tx.subscriptions.delete(id);
    await bump(tx, now);
    await record(room, tx, now, {
      actor: `agent:${before.agent}`,
      action: 'subscription.removed',
      subject: id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'events');
    return before;
  });
}

function onOwn<T>(
  room: Room,
  reader: Reader,
  id: string,
  work: (tx: Tx, before: Subscription, now: number) => Promise<T>,
): Promise<T | Fault> {
  return room.store.write(reader.space, ['ledger', 'subscriptions'], async (tx) => {
    const before = await tx.subscriptions.get(id);
    if (before === null || before.agent !== reader.agent) return new Fault('not_found', NO_SUBSCRIPTION);
    return work(tx, before, room.clock.now());
  });
}

/** The first agent of a fresh space takes everything, so that a first event has somewhere to go (K10). */
export async function subscribeToEverything(room: Room, tx: Tx, agent: AgentId): Promise<void> {
  const now = room.clock.now();
  await tx.subscriptions.insert(everything(tx.space, `sub_${room.ids.letters(16)}`, agent, now));
  await bump(tx, now);
}
