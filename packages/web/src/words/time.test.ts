import { describe, expect, it, vi } from 'vitest';
import { isQuiet } from './quiet.ts';
import { age, atMoment, clock, countdown, day, isWithinDay, secondsUntil, span } from './time.ts';

const at = (text: string) => new Date(text).getTime();
const now = at('2026-11-15T14:00:00');

describe('time in words', () => {
  it('gives an age as short as it can be without doubt', () => {
    expect(age(new Date(now - 20_000).toISOString(), now)).toBe('now');
    expect(age(new Date(now - 4 * 60_000).toISOString(), now)).toBe('4 min');
    expect(age(new Date(now - 3 * 3_600_000).toISOString(), now)).toBe('3 h');
    expect(age(new Date('2026-11-14T08:00:00').toISOString(), now)).toBe('yesterday');
    expect(age(new Date('2026-11-03T08:00:00').toISOString(), now)).toBe('3 November');
    expect(age(new Date('2025-11-03T08:00:00').toISOString(), now)).toBe('3 November 2025');
  });

  it('names days by the calendar, not by 24 hours', () => {
    expect(day(at('2026-11-14T23:59:00'), at('2026-11-15T00:01:00'))).toBe('yesterday');
    expect(day(at('2026-11-16T00:01:00'), at('2026-11-15T23:59:00'))).toBe('tomorrow');
    expect(day(at('2026-11-10T12:00:00'), now)).toBe('Tuesday');
  });

  it('counts a countdown up to whole seconds and never below zero', () => {
    expect(secondsUntil(new Date(now + 7_200).toISOString(), now)).toBe(8);
    expect(secondsUntil(new Date(now - 5_000).toISOString(), now)).toBe(0);
    expect(countdown(8)).toBe('8 s');
    expect(countdown(3599)).toBe('60 min');
  });

  it('says a span in one unit', () => {
    expect([0, 1, 45, 100, 5400, 200_000].map(span)).toEqual([
      '1 second',
      '1 second',
      '45 seconds',
      '2 minutes',
      '2 hours',
      '2 days',
    ]);
  });

  it('says when as the end of a sentence', () => {
    expect(atMoment(at('2026-11-15T17:30:00'), now)).toBe('at 17:30');
    expect(atMoment(at('2026-11-16T17:30:00'), now)).toBe('tomorrow at 17:30');
    expect(atMoment(at('2026-11-14T09:05:00'), now)).toBe('yesterday at 09:05');
    expect(atMoment(at('2026-11-18T17:30:00'), now)).toBe('on Wednesday at 17:30');
    expect(atMoment(at('2026-12-24T17:30:00'), now)).toBe('on 24 December at 17:30');
  });

  it('shows a deadline on the row only within a day', () => {
    expect(isWithinDay(new Date(now + 3_600_000).toISOString(), now)).toBe(true);
    expect(isWithinDay(new Date(now + 90_000_000).toISOString(), now)).toBe(false);
    expect(isWithinDay(new Date(now - 1).toISOString(), now)).toBe(false);
  });

  it('knows quiet hours over midnight, in the zone of the person', () => {
    const night = { from: '22:00', to: '07:00' };
    expect(isQuiet(night, new Date('2026-11-15T23:30:00Z'), 'UTC')).toBe(true);
    expect(isQuiet(night, new Date('2026-11-15T06:59:00Z'), 'UTC')).toBe(true);
    expect(isQuiet(night, new Date('2026-11-15T07:00:00Z'), 'UTC')).toBe(false);
    expect(isQuiet(night, new Date('2026-11-15T21:30:00Z'), 'Europe/Vienna')).toBe(true);
  });
});

describe('a laptop that travels with the page open', () => {
  it('tells the time where it is now, and days of 23 and 25 hours by the calendar', () => {
    const summer = Date.parse('2026-07-14T13:30:00Z');
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(clock(summer)).toBe('15:30');
    expect(day('2026-03-28T22:30:00Z', Date.parse('2026-03-29T21:30:00Z'))).toBe('yesterday');
    expect(day('2026-10-24T21:30:00Z', Date.parse('2026-10-25T22:30:00Z'))).toBe('yesterday');
    vi.stubEnv('TZ', 'Asia/Tokyo');
    expect(clock(summer)).toBe('22:30');
    expect(day('2026-07-14T15:30:00Z', summer)).toBe('tomorrow');
  });
});
