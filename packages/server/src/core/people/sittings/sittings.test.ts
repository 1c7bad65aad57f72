import { describe, expect, test } from 'vitest';
import { fromIso, toIso } from '../../time.ts';
import { isQuiet, nextDigest, nextSitting, type Rhythm } from './sittings.ts';
import { fromWall, isTimeZone, toWall } from './zone.ts';

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];

function at(iso: string): number {
  const moment = fromIso(iso);
  if (moment === null) throw new Error(iso);
  return moment;
}

function rhythm(over: Partial<Rhythm>): Rhythm {
  return { timeZone: 'UTC', sittings: [{ days: EVERY_DAY, at: '09:00' }], quiet: null, ...over };
}

function next(over: Partial<Rhythm>, after: string): string | null {
  const found = nextSitting(rhythm(over), at(after));
  return found === null ? null : toIso(found).slice(0, 16);
}

describe('the next sitting', () => {
  test('[D36] is today when it is still to come, and tomorrow when it is over or just now', () => {
    expect(next({}, '2026-11-15T08:59:59Z')).toBe('2026-11-15T09:00');
    expect(next({}, '2026-11-15T09:00:00Z')).toBe('2026-11-16T09:00');
  });

  test('[D36] keeps to its days, a week ahead if need be', () => {
    const sittings = [{ days: [1], at: '09:00' }];
    expect(next({ sittings }, '2026-11-16T08:00:00Z')).toBe('2026-11-16T09:00'); // a Monday
    expect(next({ sittings }, '2026-11-16T09:00:00Z')).toBe('2026-11-23T09:00');
  });

  test('[D36] is the earliest of several, whatever their order', () => {
    const sittings = ['16:00', '09:00', '12:30'].map((time) => ({ days: EVERY_DAY, at: time }));
    expect(next({ sittings }, '2026-11-15T10:00:00Z')).toBe('2026-11-15T12:30');
  });

  test('[D36] is counted in days of the person, not of UTC', () => {
    // 23:30 UTC is already Monday morning in Auckland.
    const sittings = [{ days: [1], at: '13:00' }];
    expect(next({ timeZone: 'Pacific/Auckland', sittings }, '2026-11-15T23:30:00Z')).toBe('2026-11-16T00:00');
  });

  test('[D36] is never without sittings', () => {
    expect(next({ sittings: [] }, '2026-11-15T10:00:00Z')).toBeNull();
  });
});

describe('when the clocks change', () => {
  test('[D36] a sitting stays at its time on the wall', () => {
    const timeZone = 'Europe/Vienna';
    expect(next({ timeZone }, '2026-03-28T00:00:00Z')).toBe('2026-03-28T08:00');
    expect(next({ timeZone }, '2026-03-29T00:00:00Z')).toBe('2026-03-29T07:00');
    expect(next({ timeZone }, '2026-10-25T00:00:00Z')).toBe('2026-10-25T08:00');
  });

  test('[D36] a time that is skipped moves on by as much as the clocks do', () => {
    // New York, 2026-03-08: 02:00 becomes 03:00.
    const over = { timeZone: 'America/New_York', sittings: [{ days: EVERY_DAY, at: '02:30' }] };
    expect(next(over, '2026-03-08T05:00:00Z')).toBe('2026-03-08T07:30'); // 03:30 on the wall
    expect(next(over, '2026-03-08T07:30:00Z')).toBe('2026-03-09T06:30');
  });

  test('[D36] a time that comes twice counts once, the first time', () => {
    // New York, 2026-11-01: 02:00 becomes 01:00.
    const over = { timeZone: 'America/New_York', sittings: [{ days: EVERY_DAY, at: '01:30' }] };
    expect(next(over, '2026-11-01T04:00:00Z')).toBe('2026-11-01T05:30');
    expect(next(over, '2026-11-01T05:30:00Z')).toBe('2026-11-02T06:30');
  });

  test('[D36] half-hour changes and skipped days are no exception', () => {
    const howe = { timeZone: 'Australia/Lord_Howe', sittings: [{ days: EVERY_DAY, at: '02:15' }] };
    expect(next(howe, '2026-10-03T12:00:00Z')).toBe('2026-10-03T15:45'); // 02:45 on the wall
    // Samoa went from 29 to 31 December 2011.
    const samoa = { timeZone: 'Pacific/Apia', sittings: [{ days: EVERY_DAY, at: '09:00' }] };
    expect(next(samoa, '2011-12-29T20:00:00Z')).toBe('2011-12-30T19:00');
  });

  test('wall time and moment agree in both directions', () => {
    const zones = ['UTC', 'Europe/Vienna', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Chatham'];
    for (const zone of zones) {
      for (let hour = 0; hour < 24 * 14; hour += 5) {
        const moment = at('2026-06-01T00:00:00Z') + hour * 3_600_000_000;
        expect(fromWall(toWall(moment, zone), zone)).toBe(moment);
      }
    }
  });
});

describe('quiet hours', () => {
  test('[D46] may go over midnight', () => {
    const night = rhythm({ timeZone: 'Europe/Vienna', quiet: { from: '22:00', to: '07:00' } });
    expect(isQuiet(night, at('2026-11-15T20:59:00Z'))).toBe(false);
    expect(isQuiet(night, at('2026-11-15T21:00:00Z'))).toBe(true);
    expect(isQuiet(night, at('2026-11-16T05:59:00Z'))).toBe(true);
    expect(isQuiet(night, at('2026-11-16T06:00:00Z'))).toBe(false);
  });

  test('[D46] a sitting inside them brings no digest, the next one outside does', () => {
    const sittings = ['06:00', '16:00'].map((time) => ({ days: EVERY_DAY, at: time }));
    const over = rhythm({ sittings, quiet: { from: '22:00', to: '07:00' } });
    const found = nextDigest(over, at('2026-11-15T17:00:00Z'));
    expect(found === null ? null : toIso(found)).toBe('2026-11-16T16:00:00.000000Z');
  });

  test('[D46] around the clock there is never a digest', () => {
    const sittings = [{ days: EVERY_DAY, at: '06:00' }];
    expect(
      nextDigest(rhythm({ sittings, quiet: { from: '05:00', to: '07:00' } }), at('2026-11-15T17:00:00Z')),
    ).toBe(null);
  });
});

test('a time zone is a place with a name, not an offset and not a guess', () => {
  for (const good of ['UTC', 'Europe/Vienna', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    expect(isTimeZone(good), good).toBe(true);
  for (const bad of ['', '+01:00', 'Europe/Nowhere', 'Europe Vienna', `${'A'.repeat(65)}`, '../../etc'])
    expect(isTimeZone(bad), bad).toBe(false);
});
