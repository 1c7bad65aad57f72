import { beforeEach, describe, expect, test } from 'vitest';
import { compareClocks, serverNow } from './clock.ts';

const HOUR = 3_600_000;
const header = (ms: number) => new Date(ms).toUTCString();
const off = () => Math.round((serverNow() - Date.now()) / 1000);

describe('the server’s time', () => {
  beforeEach(() => compareClocks(header(Date.now()), Date.now()));

  test('clocks that may be the same are taken to be', () => {
    const now = Date.now();
    compareClocks(header(now - 900), now - 50, now);
    expect(off()).toBe(0);
  });

  test.each([5 * HOUR, -5 * HOUR])('a browser that is %i ms off reads the server’s clock', (ms) => {
    const now = Date.now();
    compareClocks(header(now + ms), now - 50, now);
    expect(Math.abs(off() - ms / 1000)).toBeLessThanOrEqual(2);
    compareClocks(header(Date.now()), Date.now());
    expect(off()).toBe(0);
  });

  test('an answer without a time, or one that took longer than the difference, changes nothing', () => {
    const now = Date.now();
    compareClocks(null, now, now);
    compareClocks('nonsense', now, now);
    compareClocks(header(now - 15_000), now - 18_000, now);
    expect(off()).toBe(0);
  });
});
