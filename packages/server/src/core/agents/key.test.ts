import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomIds } from '../../storage/ids.ts';
import { isActive, keyChecksum, looksMistyped, makeKey, tierOf } from './key.ts';

test('[W4] a key is its tier, 32 letters of 62 (190 bits) and a checksum of six', () => {
  for (const tier of ['test', 'live'] as const) {
    const key = makeKey(tier, randomIds);
    expect(key).toMatch(new RegExp(`^wk_${tier}_[0-9A-Za-z]{38}$`));
    expect(keyChecksum(key.slice(0, -6))).toBe(key.slice(-6));
    expect(tierOf(key)).toBe(tier);
  }
  expect(Math.log2(62 ** 32)).toBeGreaterThan(160);
});

test('[W4] the checksum is CRC-32 in base 62, so that anybody can compute it', () => {
  // 0xcbf43926 is the check value of CRC-32 for "123456789".
  expect(keyChecksum('123456789')).toBe('3jZRME');
  expect(keyChecksum('')).toBe('000000');
});

test('[W4] any single wrong letter is noticed', () => {
  const key = makeKey('test', randomIds);
  const letter = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
  const at = fc.integer({ min: 'wk_test_'.length, max: key.length - 1 });
  fc.assert(
    fc.property(at, letter, (index, wrong) => {
      fc.pre(key[index] !== wrong);
      return looksMistyped(key.slice(0, index) + wrong + key.slice(index + 1));
    }),
  );
});

test('[W4] a cut-off key looks mistyped; a whole one, a foreign one and a brought one do not', () => {
  const key = makeKey('live', randomIds);
  expect(looksMistyped(key)).toBe(false);
  expect(looksMistyped(key.slice(0, 30))).toBe(true);
  expect(looksMistyped('wk_live_')).toBe(true);
  expect(looksMistyped(`wk_live_${'a'.repeat(40)}`)).toBe(false);
  expect(looksMistyped('sk_live_abc')).toBe(false);
  expect(looksMistyped('')).toBe(false);
});

test.each([
  ['wk_test_', 31, null],
  ['wk_test_', 32, 'test'],
  ['wk_live_', 200, 'live'],
  ['wk_prod_', 40, null],
  ['WK_TEST_', 40, null],
  [' wk_test_', 40, null],
])('[W4] "%s" and %i letters is a key of tier %s', (prefix, letters, tier) => {
  expect(tierOf(prefix + 'a'.repeat(letters))).toBe(tier);
});

test('[W4] letters and digits only', () => {
  for (const odd of ['-', '_', '.', ' ', '\n', 'é'])
    expect(tierOf(`wk_test_${'a'.repeat(32)}${odd}`)).toBeNull();
});

test('[W1] a key is active until it is revoked or its end has come', () => {
  expect(isActive({ revokedAt: null, expiresAt: null }, 100)).toBe(true);
  expect(isActive({ revokedAt: null, expiresAt: 101 }, 100)).toBe(true);
  expect(isActive({ revokedAt: null, expiresAt: 100 }, 100)).toBe(false);
  expect(isActive({ revokedAt: 50, expiresAt: null }, 100)).toBe(false);
  expect(isActive({ revokedAt: 150, expiresAt: 200 }, 100)).toBe(false);
});
