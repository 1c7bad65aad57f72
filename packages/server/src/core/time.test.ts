import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromIso, toIso, toIsoOrNull } from './time.ts';

const NOON = Date.UTC(2026, 2, 8, 12, 0, 0) * 1000;

test('[W6] times are written in UTC with six digits and Z', () => {
  expect(toIso(NOON)).toBe('2026-03-08T12:00:00.000000Z');
  expect(toIso(NOON + 1)).toBe('2026-03-08T12:00:00.000001Z');
  expect(toIso(NOON + 999_999)).toBe('2026-03-08T12:00:00.999999Z');
  expect(toIso(0)).toBe('1970-01-01T00:00:00.000000Z');
  expect(toIsoOrNull(null)).toBeNull();
});

test('[W19] what is written is read back exactly, and sorts as it was', () => {
  const micros = fc.integer({ min: 0, max: Date.UTC(2255, 0) * 1000 });
  fc.assert(fc.property(micros, (at) => fromIso(toIso(at)) === at));
  fc.assert(fc.property(micros, micros, (a, b) => a < b === toIso(a) < toIso(b)));
});

test.each([
  '2026-03-08T12:00:00Z',
  '2026-03-08T12:00:00.000000Z',
  '2026-03-08t12:00:00z',
  '2026-03-08 12:00:00Z',
  '2026-03-08T12:00Z',
  '2026-03-08T12:00:00',
  '2026-03-08T12:00:00+00:00',
  '2026-03-08T12:00:00 00:00',
  '2026-03-08T14:00:00+02:00',
  '2026-03-08T14:00:00 02:00',
  '2026-03-08T14:00:00+0200',
  '2026-03-08T06:30:00-05:30',
  '2026-03-09T11:59:00+23:59',
  '2026-03-08T12:00:00,000Z',
])('[W17] %s is noon', (text) => {
  expect(fromIso(text)).toBe(NOON);
});

test('[W17] a day is its first moment, and fractions beyond a microsecond are cut', () => {
  expect(fromIso('2026-03-08')).toBe(NOON - 12 * 3_600_000_000);
  expect(fromIso('2026-03-08T12:00:00.5Z')).toBe(NOON + 500_000);
  expect(fromIso('2026-03-08T12:00:00.123456789Z')).toBe(NOON + 123_456);
});

test('[W17] moments before 1970, and in the first century, are what they say', () => {
  expect(fromIso('1969-12-31T23:59:59.999999Z')).toBe(-1);
  expect(fromIso('0001-01-01T00:00:00Z')).toBe(-62_135_596_800_000_000);
  expect(fromIso('0080-01-01T00:00:00Z')).toBeLessThan(0);
});

test.each([
  '',
  'now',
  '1773000000',
  '2026',
  '2026-03',
  '2026-3-8',
  '2026-02-29',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-03-08T24:00:00Z',
  '2026-03-08T12:60:00Z',
  '2026-03-08T12:00:60Z',
  '2026-03-08T12:00:00+24:00',
  '2026-03-08T12:00:00+23:60',
  '2026-03-08T12:00:00.Z',
  '2026-03-08T12:00:00ZZ',
  ' 2026-03-08T12:00:00Z',
  '２０２６-03-08T12:00:00Z',
])('[W17] %j is no moment', (text) => {
  expect(fromIso(text)).toBeNull();
});

test('[W17] a leap day is a day', () => {
  expect(fromIso('2028-02-29T00:00:00Z')).toBe(Date.UTC(2028, 1, 29) * 1000);
});
