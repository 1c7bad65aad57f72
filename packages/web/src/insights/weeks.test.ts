import { expect, it } from 'vitest';
import { splitAtNumber, toPlace } from './places.ts';
import { neighbourWeek, weekOf } from './weeks.ts';

it('walks over the end of a year with 53 weeks', () => {
  expect(neighbourWeek('2026-W53', 1)).toBe('2027-W01');
  expect(neighbourWeek('2027-W01', -1)).toBe('2026-W53');
  expect(weekOf(Date.UTC(2026, 10, 15))).toBe('2026-W46');
});

it('lets a number lead only to places on this desk', () => {
  expect(toPlace('deliveries', 'section=needs_you')).toEqual({ to: '/', search: { section: 'needs_you' } });
  expect(toPlace('history', 'agent=a')).toEqual({ to: '/history', search: { agent: 'a' } });
  expect(toPlace('deliveries', '//evil.example')).toEqual({ to: '/', search: { '//evil.example': '' } });
  expect(toPlace(null, 'x')).toBeNull();
});

it('finds the number in a sentence', () => {
  expect(splitAtNumber('Most of it came on Sunday: 1.204.')).toEqual([
    'Most of it came on Sunday: ',
    '1.204',
    '.',
  ]);
  expect(splitAtNumber('A quiet week.')).toEqual([]);
});
