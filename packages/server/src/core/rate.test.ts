import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bucket, fullBucket, look, type Rate, take } from './rate.ts';
import { HOUR, SECOND } from './time.ts';

const RATE: Rate = { perHour: 20, burst: 5 };
const EMPTY: Bucket = { tokens: 0, at: 0 };

/** Takes as often as it is let. */
function drain(bucket: Bucket, rate: Rate, now: number): number {
  let left = bucket;
  for (let taken = 0; ; taken++) {
    const next = take(left, rate, now);
    if (next.kind === 'empty') return taken;
    left = next.bucket;
  }
}

test('[W5] a new bucket is full, and gives its burst at once', () => {
  expect(look(fullBucket(RATE, 0), RATE, 0)).toEqual({ limit: 5, remaining: 5, resetSeconds: 0 });
  expect(drain(fullBucket(RATE, 0), RATE, 0)).toBe(5);
});

test('[W5] tokens flow in evenly, and never over the burst', () => {
  expect(drain(EMPTY, RATE, 180 * SECOND - 1)).toBe(0);
  expect(drain(EMPTY, RATE, 180 * SECOND)).toBe(1);
  expect(drain(EMPTY, RATE, 899 * SECOND)).toBe(4);
  expect(drain(EMPTY, RATE, 24 * HOUR)).toBe(5);
});

test('[W5] an empty bucket says when to come back, in whole seconds, never 0', () => {
  expect(take(EMPTY, RATE, 0)).toEqual({
    kind: 'empty',
    retryAfterSeconds: 180,
    view: { limit: 5, remaining: 0, resetSeconds: 900 },
  });
  expect(take(EMPTY, RATE, 180 * SECOND - 1)).toMatchObject({ kind: 'empty', retryAfterSeconds: 1 });
  const fast = { perHour: 3_600_000, burst: 1 };
  expect(take(EMPTY, fast, 0)).toMatchObject({ kind: 'empty', retryAfterSeconds: 1 });
});

test('[W5] a clock that went back by a moment adds nothing and takes nothing', () => {
  const bucket = { tokens: 2, at: 60 * SECOND };
  expect(look(bucket, RATE, 0).remaining).toBe(2);
  const taken = take(bucket, RATE, 0);
  expect(taken).toMatchObject({ kind: 'taken', bucket: { tokens: 1, at: 60 * SECOND } });
});

test('[W5] nobody waits for the time to come again from which a clock was set back', () => {
  const bucket = { tokens: 0, at: 10 * HOUR };
  expect(look(bucket, RATE, 0).remaining).toBe(RATE.burst);
  expect(take(bucket, RATE, 0)).toMatchObject({ kind: 'taken', bucket: { tokens: RATE.burst - 1, at: 0 } });
});

test('[W5] a smaller burst holds at once for a bucket that was fuller', () => {
  expect(drain({ tokens: 500, at: 0 }, RATE, 0)).toBe(5);
});

test('[W5] whatever the rate, whoever waits as told is let in, and nobody gets more than the rate', () => {
  const rates = fc.record({
    perHour: fc.integer({ min: 1, max: 10_000 }),
    burst: fc.integer({ min: 1, max: 100 }),
  });
  const filled = fc.double({ min: 0, max: 0.999_999, noNaN: true });
  fc.assert(
    fc.property(rates, filled, (rate, tokens) => {
      const refused = take({ tokens, at: 0 }, rate, 0);
      if (refused.kind !== 'empty') return false;
      const later = refused.retryAfterSeconds * SECOND;
      return take({ tokens, at: 0 }, rate, later).kind === 'taken';
    }),
  );
  fc.assert(
    fc.property(rates, fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 200 }), (rate, times) => {
      let bucket = fullBucket(rate, 0);
      let accepted = 0;
      for (const at of times.sort((a, b) => a - b)) {
        const next = take(bucket, rate, at);
        if (next.kind === 'taken') {
          bucket = next.bucket;
          accepted++;
        }
      }
      return accepted <= rate.burst + rate.perHour;
    }),
  );
});
