import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('[W29] of many that want a turn each, one is let through at a time, and all in the end', async () => {
  const turns = new Turns();
  const done: number[] = [];
  const all = Array.from({ length: 20 }, (_, n) => turns.next().then(() => done.push(n)));
  for (let before = 0; done.length < 20; before = done.length) {
    await nextTurn();
    expect(done.length - before).toBeLessThanOrEqual(1);
  }
  await Promise.all(all);
  expect(done).toEqual(Array.from({ length: 20 }, (_, n) => n));
});
