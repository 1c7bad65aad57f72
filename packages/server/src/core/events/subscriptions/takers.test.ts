import { describe, expect, it } from 'vitest';
import { anEvent, subscription } from '../../../testing/akep/akep.ts';
import type { Envelope } from '../event.ts';
import type { Arrival, Subscription, SubscriptionBody } from './subscription.ts';
import { findTakers, type Taker } from './takers.ts';

const DAY = 24 * 3600 * 1_000_000;

function of(agent: string, over: Record<string, unknown> = {}): Subscription {
  const body = subscription(over) as unknown as SubscriptionBody;
  return { space: 'sp', id: `sub_${agent}`, agent, body, isDefault: false, createdAt: 0, tier: 'test' };
}

const arrival: Arrival = {
  envelope: anEvent() as unknown as Envelope,
  producer: 'prod_x',
  keyId: null,
  algorithm: 'v1',
  size: 2000,
};

const taken = (...all: Subscription[]) => findTakers(all, arrival) as Taker[];

describe('takers', () => {
  it('[K9] every agent once, with the most generous of its subscriptions', () => {
    const day = { type: 'poll', replay_retention_seconds: 86_400, ack_required: false };
    const month = { type: 'webhook', url: 'https://a.example/x', replay_retention_seconds: 2_592_000 };
    const takers = taken(
      of('a', { delivery: day, capabilities: { resume_policies: ['never'] } }),
      of('b', { delivery: day }),
      of('a', { delivery: month, capabilities: { resume_policies: ['append_only', 'never'] } }),
      of('c', { event_types: ['tool.failed'] }),
    );
    const forwards = [{ subscription: 'sub_a', url: 'https://a.example/x' }];
    expect(takers).toEqual([
      { agent: 'a', keptFor: 30 * DAY, ackRequired: true, ceiling: 'append_only', forwards },
      { agent: 'b', keptFor: DAY, ackRequired: false, ceiling: 'resume_immediately', forwards: [] },
    ]);
  });

  it('[K7] nobody is told from too large', () => {
    const small = { capabilities: { max_payload_bytes: 1024 } };
    const fault = (...all: Subscription[]) => findTakers(all, arrival);
    expect(fault()).toMatchObject({ fault: 'no_subscription' });
    expect(fault(of('a', small))).toMatchObject({ fault: 'payload_too_large' });
    expect(fault(of('a', { ...small, event_types: ['x.y'] }))).toMatchObject({ fault: 'no_subscription' });
    expect(taken(of('a', small), of('b'))).toHaveLength(1);
  });
});
