import { expect, test } from 'vitest';
import { entry, ShortMemory } from './maps.ts';

test('a short memory keeps this many, and starts over with one more', () => {
  const memory = new ShortMemory<string, number>(2);
  memory.set('a', 1);
  memory.set('b', 2);
  memory.set('b', 3);
  expect([memory.get('a'), memory.get('b'), memory.size]).toEqual([1, 3, 2]);
  memory.set('c', 4);
  expect([memory.has('a'), memory.get('c'), memory.size]).toEqual([false, 4, 1]);
});

test('what is kept under a key is made once', () => {
  const memory = new ShortMemory<string, object>(2);
  const made = entry(memory, 'a', () => ({}));
  expect(entry(memory, 'a', () => ({}))).toBe(made);
});
