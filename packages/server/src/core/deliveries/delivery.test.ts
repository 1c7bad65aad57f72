import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  callbackOf,
  DELIVERY_TYPES,
  detailsOf,
  earlierSection,
  openSection,
  timedOutAt,
} from './delivery.ts';

const NOW = Date.UTC(2026, 10, 15) * 1000;
const OPEN = { type: 'question' as const, accepted: true, timeoutAt: null, createdAt: NOW };

test.each([
  ['question', 'needs_you'],
  ['output', 'needs_you'],
  ['alert', 'alerts'],
  ['update', 'to_read'],
] as const)('[D9] an open %s stands in %s', (type, section) => {
  expect(openSection({ ...OPEN, type }).section).toBe(section);
});

test('[D16] whatever a new agent sends stands apart', () => {
  for (const type of DELIVERY_TYPES) {
    expect(openSection({ ...OPEN, type, accepted: false }).section).toBe('new_agents');
  }
});

test('[D9] due comes first, then what has no deadline, oldest first', () => {
  const late = openSection({ ...OPEN, timeoutAt: NOW + 604_800_000_000 }).sectionAt;
  const soon = openSection({ ...OPEN, timeoutAt: NOW + 60_000_000 }).sectionAt;
  const older = openSection({ ...OPEN, createdAt: NOW - 1 }).sectionAt;
  const newer = openSection(OPEN).sectionAt;
  expect([newer, late, older, soon].sort((a, b) => a - b)).toEqual([soon, late, older, newer]);
});

test('[D9] places stay exact for a century', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2126, 0) * 1000 });
  fc.assert(
    fc.property(moment, (createdAt) => Number.isSafeInteger(openSection({ ...OPEN, createdAt }).sectionAt)),
  );
});

test('[D9] alerts and updates are listed by age, whatever their timeout', () => {
  const alert = { ...OPEN, type: 'alert' as const, timeoutAt: NOW + 1 };
  expect(openSection(alert).sectionAt).toBe(NOW);
});

test('[D9] Earlier is newest first', () => {
  expect(earlierSection(NOW + 1).sectionAt).toBeLessThan(earlierSection(NOW).sectionAt);
});

test('[W16] timed out is what is pending when its time has come, and nothing else', () => {
  const pending = { status: 'pending' as const, timeoutAt: NOW };
  expect(timedOutAt(pending, NOW - 1)).toBeNull();
  expect(timedOutAt(pending, NOW)).toBe(NOW);
  expect(timedOutAt(pending, NOW + 5)).toBe(NOW);
  expect(timedOutAt({ ...pending, timeoutAt: null }, NOW)).toBeNull();
  expect(timedOutAt({ status: 'approved', timeoutAt: NOW }, NOW + 5)).toBeNull();
});

test('[W10] details and callback are read from the body as it came', () => {
  expect(detailsOf({ details: { a: 1 } })).toEqual({ a: 1 });
  expect(detailsOf({})).toBeNull();
  expect(callbackOf({ callback_webhook: 'https://x.example/' })).toBe('https://x.example/');
  for (const target of [null, 7, ['x']]) expect(callbackOf({ callback_webhook: target })).toBeNull();
});
