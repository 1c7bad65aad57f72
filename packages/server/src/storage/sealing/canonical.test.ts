import fc from 'fast-check';
import { canonicalize } from 'json-canonicalize';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical.ts';

test('[D10] the canonical form of any JSON is what the package for RFC 8785 makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  // RFC 8785, 3.2.2 and 3.2.3: numbers, escapes and the order of names.
  [
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0]}',
    '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0]}',
  ],
  ['{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}', null],
  ['{"10":1,"9":2,"a":{"c":null,"b":[]}}', '{"10":1,"9":2,"a":{"b":[],"c":null}}'],
  // A member of this name is a member like any other, which the package takes for a method.
  ['{"toJSON":1,"a":{"z":1,"b":2}}', '{"a":{"b":2,"z":1},"toJSON":1}'],
])('[D10] %s has its canonical form', (text, expected) => {
  const value: unknown = JSON.parse(text);
  expect(canonicalJson(value)).toBe(expected ?? canonicalize(value));
});

test('[D10] many members, and long names of them, have their order too', () => {
  const names = Array.from({ length: 60 }, (_, i) => `${(i * 37) % 60}`.repeat(1 + (i % 40)));
  const value = Object.fromEntries(names.map((name, i) => [`n${name}`, i]));
  // Twice: names that were seen before are remembered.
  for (const _ of [1, 2]) expect(canonicalJson(value)).toBe(canonicalize(value));
});

test('[D10] what is not JSON has no canonical form', () => {
  expect(() => canonicalJson({ a: Number.NaN })).toThrow(/no form in JSON/);
});
