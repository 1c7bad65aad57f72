import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anEvent, subscription } from '../../../testing/akep/akep.ts';
import type { Envelope } from '../event.ts';
import { Candidates } from './candidates.ts';
import type { Arrival, Subscription, SubscriptionBody } from './subscription.ts';
import { findTakers } from './takers.ts';

function toSubscription(over: Record<string, unknown>, place: number): Subscription {
  const body = subscription(over) as unknown as SubscriptionBody;
  const agent = `agent-${place}`;
  return { space: 'sp', id: `sub_${place}`, agent, body, isDefault: false, createdAt: 0, tier: 'test' };
}

function toArrival(over: Record<string, unknown>): Arrival {
  const envelope = anEvent(over) as unknown as Envelope;
  return { envelope, producer: 'prod_x', keyId: null, algorithm: 'v1', size: 2000 };
}

/** Few values, so that conditions are met often. */
const value = fc.constantFrom<unknown>('a', 'b', 1, 0, -0, true, null);
const filter = fc.oneof(value, fc.array(value, { maxLength: 3 }));
const path = fc.constantFrom(
  'subject.agent_id',
  'subject.n',
  'knowledge.kind',
  'source.producer_id',
  'subject.__proto__',
);
const wanted = fc.record(
  {
    event_types: fc.constantFrom(
      ['*'],
      ['knowledge.acquired'],
      ['tool.failed', 'knowledge.acquired'],
      ['tool.failed'],
    ),
    filters: fc.dictionary(path, filter, { maxKeys: 3 }),
    security: fc.constantFrom(
      {},
      { accepted_source_names: ['demo'] },
      { accepted_producer_ids: ['prod_x', 'prod_y'] },
      { accepted_producer_ids: ['prod_y'] },
    ),
    capabilities: fc.constantFrom({}, { max_payload_bytes: 1024 }),
  },
  { requiredKeys: ['event_types'] },
);
const subject = fc.record({ agent_id: value, n: value }, { requiredKeys: [] });

describe('candidates', () => {
  it('[K7] whoever takes an event out of all takes it out of the candidates, in the same order', () => {
    fc.assert(
      fc.property(fc.array(wanted, { maxLength: 12 }), subject, (bodies, about) => {
        const all = bodies.map(toSubscription);
        const arrival = toArrival({ subject: about });
        const found = findTakers(new Candidates(all).of(arrival), arrival);
        expect(found).toEqual(findTakers(all, arrival));
      }),
    );
  });

  it('[K7] an event for one of a thousand agents is held against that one, and those who take everything', () => {
    const own = Array.from({ length: 1000 }, (_, n) => ({
      event_types: ['knowledge.acquired', 'tool.failed'],
      filters: { 'subject.agent_id': `a${n}`, 'source.name': 'demo' },
    }));
    const all = [...own, { event_types: ['*'] }].map(toSubscription);
    const found = new Candidates(all).of(toArrival({ subject: { agent_id: 'a7' } }));
    expect(found.map(({ id }) => id)).toEqual(['sub_7', 'sub_1000']);
  });
});
