import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldEmail } from './person.ts';

test.each([
  ['capitals', 'Ana@Example.COM', 'ana@example.com'],
  ['space around it', ' ana@example.com\n', 'ana@example.com'],
  ['invisible characters', '\u200bana\u00ad@example.com\ufeff', 'ana@example.com'],
  ['a letter and its mark', 'ame\u0301lie@example.com', 'am\u00e9lie@example.com'],
  ['something invisible between the two', 'ame\u200d\u0301lie@example.com', 'am\u00e9lie@example.com'],
  ['a capital that has no form of its own', 'J\u030can@example.com', '\u01f0an@example.com'],
])('[D1] an e-mail address is the same however it is written: %s', (_, written, address) => {
  expect(foldEmail(written)).toBe(address);
});

test('[D1] an e-mail address that is kept finds its person again', () => {
  const character = fc.constantFrom(
    'a',
    'J',
    'İ',
    'Σ',
    'e',
    '\u0301',
    '\u030c',
    '\u0307',
    '\u200d',
    ' ',
    '@',
    '가',
    '\u11a8',
  );
  fc.assert(
    fc.property(fc.string({ unit: character }), (written) => {
      expect(foldEmail(foldEmail(written))).toBe(foldEmail(written));
    }),
  );
});
