import { describe, expect, it } from 'vitest';
import { anEvent } from '../../testing/akep/akep.ts';
import {
  ACK_STATUSES,
  type Ack,
  type Envelope,
  hasExpired,
  judgeAck,
  RESUME_POLICIES,
  stricter,
  subjectKey,
} from './event.ts';
import { mayLeave } from './retention.ts';

const envelope = (over: Record<string, unknown>) => anEvent(over) as unknown as Envelope;

describe('policies', () => {
  it('[K20] the stricter of two is the one further left, whichever comes first', () => {
    for (const [i, a] of RESUME_POLICIES.entries()) {
      for (const [j, b] of RESUME_POLICIES.entries())
        expect(stricter(a, b)).toBe(RESUME_POLICIES[Math.min(i, j)]);
    }
  });

  it('[K20] knowledge expires in the very moment it names', () => {
    const until = (expires_at: string | null) =>
      envelope({ knowledge: { kind: 'message', content_type: 'x/y', summary: 's', expires_at } });
    expect(hasExpired(until('1970-01-01T00:00:01Z'), 999_999)).toBe(false);
    expect(hasExpired(until('1970-01-01T00:00:01Z'), 1_000_000)).toBe(true);
    expect(hasExpired(until(null), 1_000_000)).toBe(false);
  });
});

describe('acknowledgements', () => {
  const after = (status: Ack['status']): Ack => ({ status, processedAt: 1, reason: null });

  it('[K13] every step there is', () => {
    for (const next of ACK_STATUSES) expect(judgeAck(null, next).kind).toBe('set');
    const kinds = ACK_STATUSES.map((from) => ACK_STATUSES.map((to) => judgeAck(after(from), to).kind));
    expect(kinds).toEqual([
      ['same', 'set', 'set'],
      ['refused', 'same', 'refused'],
      ['refused', 'refused', 'same'],
    ]);
  });
});

describe('subjects', () => {
  it('[K22] are the same whatever the order of their names, and nothing else is', () => {
    const key = (subject: Record<string, unknown>) => subjectKey(envelope({ subject }));
    expect(key({ task_id: 'a', x: 1 })).toBe(key({ x: 1, task_id: 'a' }));
    const others = [
      { task_id: 'a' },
      { task_id: 'a', x: '1' },
      { task_id: 'a,x', y: 1 },
      { task_id: 'a', x: null },
    ];
    for (const other of others) expect(key(other)).not.toBe(key({ task_id: 'a', x: 1 }));
  });
});

describe('leaving', () => {
  const WEEK = 7 * 24 * 3600 * 1_000_000;
  const entry = { keptUntil: 10, receivedAt: 0, ack: null } as never;

  it('[K17] when its time is over, and unacknowledged not before a week', () => {
    const acked = { keptUntil: 10, receivedAt: 0, ack: { status: 'stored' } } as never;
    expect([mayLeave(acked, 9), mayLeave(acked, 10)]).toEqual([false, true]);
    expect([mayLeave(entry, WEEK - 1), mayLeave(entry, WEEK)]).toEqual([false, true]);
  });
});
