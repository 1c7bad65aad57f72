import { Fault } from '../../faults.ts';
import type { AgentId } from '../../ids.ts';
import { entry, ShortMemory } from '../../maps.ts';
import type { Micros } from '../../time.ts';
import { RESUME_POLICIES, type ResumePolicy } from '../event.ts';
import { type Arrival, ceilingOf, keptFor, match, type Subscription, UNACKED_KEPT } from './subscription.ts';

/** An agent that gets an event, and how: by the most generous of its matching subscriptions. */
export type Taker = {
  agent: AgentId;
  keptFor: Micros;
  ackRequired: boolean;
  ceiling: ResumePolicy;
  forwards: readonly Forward[];
};

/** Where a subscription wants its events sent. */
export type Forward = { subscription: string; url: string };

/** An agent that gets an event without any subscription: the answer to its own delivery. */
export function plainTaker(agent: AgentId, forwards: readonly Forward[]): Taker {
  return { agent, keptFor: UNACKED_KEPT, ackRequired: true, ceiling: 'resume_immediately', forwards };
}

/** The lists found before, by matching subscriptions: nearly all events have the same takers and can share one list. */
export class KnownTakers extends ShortMemory<string, readonly Taker[]> {
  constructor() {
    super(1_000);
  }
}

/** Every agent once, however many of its subscriptions take the event (K7, K9). */
export function findTakers(
  all: readonly Subscription[],
  arrival: Arrival,
  known: KnownTakers = new KnownTakers(),
): readonly Taker[] | Fault {
  const taking: Subscription[] = [];
  let which = '';
  let tooLarge = false;
  for (const subscription of all) {
    const verdict = match(subscription.body, arrival);
    if (verdict === 'too_large') tooLarge = true;
    if (verdict !== 'takes') continue;
    taking.push(subscription);
    which += `${subscription.id} `;
  }
  if (taking.length === 0) return refusal(tooLarge);
  return entry(known, which, () => joinAll(taking));
}

function refusal(tooLarge: boolean): Fault {
  return tooLarge
    ? new Fault(
        'payload_too_large',
        'Every subscription that would take this event has a smaller max_payload_bytes.',
      )
    : new Fault(
        'no_subscription',
        'No subscription takes this event: check its type, filters, source, producer and key id.',
      );
}

function joinAll(taking: readonly Subscription[]): readonly Taker[] {
  const takers = new Map<AgentId, Taker>();
  for (const subscription of taking)
    takers.set(subscription.agent, join(takers.get(subscription.agent), subscription));
  return [...takers.values()];
}

function join(before: Taker | undefined, { agent, body, id }: Subscription): Taker {
  const forwards = before?.forwards ?? [];
  const { url, type } = body.delivery;
  return {
    agent,
    keptFor: Math.max(keptFor(body), before?.keptFor ?? 0),
    ackRequired: body.delivery.ack_required !== false || (before?.ackRequired ?? false),
    ceiling: freer(ceilingOf(body), before?.ceiling ?? 'never'),
    forwards: type === 'webhook' && url !== undefined ? [...forwards, { subscription: id, url }] : forwards,
  };
}

function freer(a: ResumePolicy, b: ResumePolicy): ResumePolicy {
  return RESUME_POLICIES.indexOf(a) >= RESUME_POLICIES.indexOf(b) ? a : b;
}
