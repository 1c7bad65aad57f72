import { describe, expect, it } from 'vitest';
import { judge, retryAfterMs } from './retry.ts';

const FRESH = { failures: 0, limits: 0 };
const AT = { nowMs: Date.parse('2026-03-08T12:00:00Z'), random: 0.5 };
const reply = (status: number, retryAfter: string | null = null) =>
  ({ kind: 'reply', status, retryAfter }) as const;

describe('the retry rules', () => {
  it('[W23] 401 ends it at the first sight', () => {
    expect(judge(reply(401), FRESH, AT)).toEqual({ kind: 'give_up', fault: 'unauthorized' });
  });

  it('[W23] 429 waits as asked, once', () => {
    expect(judge(reply(429, '7'), FRESH, AT)).toEqual({ kind: 'wait', ms: 7_000, counts: 'limits' });
    expect(judge(reply(429, '7'), { failures: 0, limits: 1 }, AT)).toEqual({
      kind: 'give_up',
      fault: 'rate_limited',
    });
  });

  it('[W23] 429 without a readable Retry-After waits a minute', () => {
    expect(judge(reply(429, 'soon'), FRESH, AT)).toEqual({ kind: 'wait', ms: 60_000, counts: 'limits' });
  });

  it('[W23] no reply and 5xx back off three times, then give up', () => {
    const waits = [0, 1, 2, 3].map((failures) => judge({ kind: 'failed' }, { failures, limits: 0 }, AT));
    expect(waits.map((verdict) => (verdict.kind === 'wait' ? verdict.ms : verdict.kind))).toEqual([
      250,
      1_000,
      3_000,
      'give_up',
    ]);
    expect(judge(reply(503), { failures: 3, limits: 0 }, AT)).toEqual({
      kind: 'give_up',
      fault: 'server_failed',
    });
  });

  it('[W23] a server that is down for a moment may say for how long', () => {
    expect(judge(reply(503, '20'), FRESH, AT)).toEqual({ kind: 'wait', ms: 20_000, counts: 'failures' });
  });

  it.each([200, 201, 400, 403, 404, 409, 413, 422])('[W23] %i is taken as it is', (status) => {
    expect(judge(reply(status), FRESH, AT)).toEqual({ kind: 'take' });
  });

  it.each([
    ['0', 0],
    ['12', 12_000],
    [' 12 ', 12_000],
    ['Sun, 08 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 08 Mar 2026 11:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['-5x', null],
    ['', null],
    [null, null],
  ])('[W23] Retry-After %j is %j ms', (header, ms) => {
    expect(retryAfterMs(header, AT.nowMs)).toBe(ms);
  });
});
