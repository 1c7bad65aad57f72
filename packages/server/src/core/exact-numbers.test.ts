import { expect, test } from 'vitest';
import { withExactNumbers } from './exact-numbers.ts';

test.each([
  '{"a":1,"b":-0.5e-7,"c":9007199254740991,"d":"10000000000000001"}',
  '[123456789012345.6, 1e100, 0, -0, 0.000]',
  '{"10000000000000001":"\\"10000000000000001"}',
])('[W12] %s holds nothing that a double would round', (json) => {
  expect(withExactNumbers(json)).toBeNull();
});

test.each([
  ['10000000000000001', '"\\u000010000000000000001e0"'],
  ['[-10000000000000001.0,2]', '["\\u0000-10000000000000001e0",2]'],
  ['{"a":{"b":0.12345678901234567890}}', '{"a":{"b":"\\u00001234567890123456789e-19"}}'],
  ['[1e-400]', '["\\u00001e-400"]'],
])('[W12] %s keeps its digits', (json, exact) => {
  expect(withExactNumbers(json)).toBe(exact);
});

test('[W12] two spellings of one value are the same, also where a double rounds it', () => {
  expect(withExactNumbers('[10000000000000001]')).toBe(withExactNumbers('[1.00000000000000010e16]'));
  expect(withExactNumbers('[10000000000000001]')).not.toBe(withExactNumbers('[10000000000000003]'));
});

test('[W12] a number of a million digits is read like any other', () => {
  const zeros = '0'.repeat(1_000_000);
  expect(withExactNumbers(`[1${zeros}1]`)).toBe(`["\\u00001${zeros}1e0"]`);
});
