import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [0, 'entry', '0 entries'],
  [1, 'entry', '1 entry'],
  [2, 'entry', '2 entries'],
  [1, 'row', '1 row'],
  [3, 'row', '3 rows'],
])('[D31] %i %s is said as "%s"', (n, noun, said) => {
  expect(counted(n, noun)).toBe(said);
});
