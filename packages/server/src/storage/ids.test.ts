import { expect, test } from 'vitest';
import { isUuid } from '../core/ids.ts';
import { randomIds } from './ids.ts';

test('[W6] ids are UUID v4 and random in every free place: none carries a time or a count', () => {
  const ids = Array.from({ length: 2000 }, () => randomIds.uuid());
  expect(ids.every(isUuid)).toBe(true);
  for (let place = 0; place < 36; place++) {
    const letters = new Set(ids.map((id) => id[place]));
    const fixed = [8, 13, 14, 18, 23].includes(place);
    const expected = fixed ? 1 : place === 19 ? 4 : 16;
    expect([place, letters.size]).toEqual([place, expected]);
  }
});

test('[W4] letters are random, of the length asked for, and nothing else', () => {
  expect(randomIds.letters(64)).toMatch(/^[0-9A-Za-z]{64}$/);
  expect(new Set(Array.from({ length: 500 }, () => randomIds.letters(12))).size).toBe(500);
});
