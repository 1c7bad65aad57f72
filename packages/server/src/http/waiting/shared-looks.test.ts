import { expect, it } from 'vitest';
import { Signals } from '../../storage/signals.ts';
import { SharedLooks } from './shared-looks.ts';

function counting() {
  const signals = new Signals();
  const looks = new SharedLooks<number>(signals);
  let asked = 0;
  const ask = (name = 'page') => looks.ask('inbox:a', name, async () => ++asked);
  return { signals, ask };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('[K12] in one turn the store is asked once, in the next one again', async () => {
  const { ask } = counting();
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  await turn();
  expect(await ask()).toBe(2);
});

it('[K12] other questions are other looks', async () => {
  const { ask } = counting();
  expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual([1, 2, 1]);
});

it('[K12] a read after a commit never gets what was there before it', async () => {
  const { ask, signals } = counting();
  const before = ask();
  signals.tell(new Map([['inbox:a', new Set([''])]]));
  expect(await Promise.all([before, ask()])).toEqual([1, 2]);
});

it('[K12] a look that fails is not kept', async () => {
  const looks = new SharedLooks<number>(new Signals());
  await expect(looks.ask('inbox:a', 'x', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  await turn();
  expect(await looks.ask('inbox:a', 'x', async () => 1)).toBe(1);
});
