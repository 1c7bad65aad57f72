import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EndedAttempt, nextAttempt, RETRY_STEPS_MS, toRetryAfterSeconds } from './retry.ts';

function after(ended: Partial<EndedAttempt>) {
  return nextAttempt({ attempt: 1, status: null, retryAfterSeconds: null, random: 0.5, ...ended });
}

test('[W22] the steps are 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, then it is exhausted', () => {
  const seconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  const steps = seconds.map((_, i) => after({ attempt: i + 1, status: 503 }));
  expect(steps).toEqual(seconds.map((s) => ({ kind: 'retry', delayMs: s * 1000 })));
  expect(after({ attempt: 10 })).toEqual({ kind: 'exhausted' });
  expect(after({ attempt: 11, status: 500 })).toEqual({ kind: 'exhausted' });
});

test('[W22] jitter is 20 % to either side', () => {
  expect(after({ random: 0 })).toEqual({ kind: 'retry', delayMs: 4000 });
  expect(after({ random: 0.999_999_9 })).toEqual({ kind: 'retry', delayMs: 6000 });
});

test.each([200, 201, 202, 204, 299])('[W22] %i is done, on the last attempt too', (status) => {
  expect(after({ status })).toEqual({ kind: 'done' });
  expect(after({ status, attempt: 10 })).toEqual({ kind: 'done' });
});

test('[W22] 410 stops for good, at any attempt', () => {
  for (const attempt of [1, 5, 10]) expect(after({ status: 410, attempt })).toEqual({ kind: 'gone' });
});

test.each([null, 199, 300, 301, 302, 307, 308, 400, 401, 404, 409, 413, 422, 429, 500, 503])(
  '[W22] %s is tried again; a redirect is a failure like any other',
  (status) => {
    expect(after({ status })).toMatchObject({ kind: 'retry' });
  },
);

test('[W22] Retry-After makes us wait longer, up to the end of the step, and never shorter', () => {
  const step2 = { attempt: 2, status: 429 };
  expect(after({ ...step2, retryAfterSeconds: 330 })).toEqual({ kind: 'retry', delayMs: 330_000 });
  expect(after({ ...step2, retryAfterSeconds: 86_400 })).toEqual({ kind: 'retry', delayMs: 360_000 });
  expect(after({ ...step2, retryAfterSeconds: Number.POSITIVE_INFINITY })).toEqual({
    kind: 'retry',
    delayMs: 360_000,
  });
  expect(after({ ...step2, retryAfterSeconds: 1 })).toEqual({ kind: 'retry', delayMs: 300_000 });
  expect(after({ ...step2, retryAfterSeconds: -5 })).toEqual({ kind: 'retry', delayMs: 300_000 });
  expect(after({ ...step2, retryAfterSeconds: Number.NaN })).toEqual({ kind: 'retry', delayMs: 300_000 });
});

test('[W22] whatever a receiver says, the delay stays within 20 % of the step', () => {
  const ended = fc.record({
    attempt: fc.integer({ min: 1, max: 9 }),
    status: fc.option(fc.integer({ min: 300, max: 599 }).filter((s) => s !== 410)),
    retryAfterSeconds: fc.option(fc.double()),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
  fc.assert(
    fc.property(ended, (end) => {
      const next = nextAttempt(end);
      const step = RETRY_STEPS_MS[end.attempt - 1] ?? 0;
      expect(next.kind).toBe('retry');
      const delayMs = next.kind === 'retry' ? next.delayMs : -1;
      expect(delayMs).toBeGreaterThanOrEqual(step * 0.8);
      expect(delayMs).toBeLessThanOrEqual(step * 1.2);
    }),
  );
});

test('[W22] Retry-After is read as seconds or as an HTTP date, and as nothing else', () => {
  const now = Date.UTC(2026, 10, 1, 12, 0, 0);
  expect(toRetryAfterSeconds('120', now)).toBe(120);
  expect(toRetryAfterSeconds(' 7 ', now)).toBe(7);
  expect(toRetryAfterSeconds('Sun, 01 Nov 2026 12:01:30 GMT', now)).toBe(90);
  expect(toRetryAfterSeconds('Sun, 01 Nov 2026 11:00:00 GMT', now)).toBe(0);
  for (const text of [
    '',
    '-1',
    '1.5',
    '1e9',
    'soon',
    '0x10',
    '2026-11-01',
    'Sun, 99 Nov 2026 12:00:00 GMT',
  ]) {
    expect(toRetryAfterSeconds(text, now)).toBeNull();
  }
});
