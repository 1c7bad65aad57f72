import { expect, it } from 'vitest';
import { snoozeTimes, soonest } from './snooze-times.ts';

it('offers times that people mean, in the days of the calendar', () => {
  const sunday = new Date('2026-11-15T11:00:00').getTime();
  expect(snoozeTimes(sunday, null).map((time) => time.label)).toEqual([
    'In an hour, 12:00',
    'This evening, 18:00',
    'Tomorrow morning, 09:00',
  ]);
  const tuesday = new Date('2026-11-17T20:00:00').getTime();
  const sitting = new Date('2026-11-18T07:30:00').toISOString();
  expect(snoozeTimes(tuesday, sitting).map((time) => time.label)).toEqual([
    'In an hour, 21:00',
    'Next sitting, tomorrow 07:30',
    'Tomorrow morning, 09:00',
    'Next week, Monday 09:00',
  ]);
  const night = new Date('2026-11-17T23:30:00').getTime();
  const nine = new Date('2026-11-18T09:00:00').toISOString();
  expect(snoozeTimes(night, nine).map((time) => time.label)).toEqual([
    'In an hour, tomorrow 00:30',
    'Next sitting, tomorrow 09:00',
    'Next week, Monday 09:00',
  ]);
});

it('offers the coming morning to whoever is up after midnight', () => {
  const late = new Date('2026-11-20T00:18:00').getTime();
  expect(snoozeTimes(late, null).map((time) => time.label)).toEqual([
    'In an hour, 01:18',
    'This morning, 09:00',
    'This evening, 18:00',
    'Tomorrow morning, 09:00',
    'Next week, Monday 09:00',
  ]);
});

it('lets no time be chosen that is past', () => {
  expect(soonest(new Date('2026-11-30T23:59:30').getTime())).toBe('2026-12-01T00:00');
});
