import { expect, test } from 'vitest';
import { entry, ShortMemory } from './maps.ts';

test('a short memory keeps this many, and starts over with one more', () => {
  const memory = new ShortMemory<string, number>(2);
  memory.set('a', 1).set('b', 2).set('b', 3);
  expect([...memory]).toEqual([
    ['a', 1],
    ['b', 3],
  ]);
  expect([...memory.set('c', 4)]).toEqual([['c', 4]]);
});

test('what is kept under a key is made once', () => {
  const memory = new ShortMemory<string, object>(2);
  const made = entry(memory, 'a', () => ({}));
  expect(entry(memory, 'a', () => ({}))).toBe(made);
});
