import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inParts } from './in-parts.ts';

it('[W29] a crowd is seen to in parts, with a turn for everybody else between them', async () => {
  const crowd = Array.from({ length: 250 }, (_, n) => n);
  const seen: number[] = [];
  const seeing = (async () => {
    for await (const some of inParts(crowd)) seen.push(...some);
  })();
  const between: number[] = [];
  while (seen.length < crowd.length) {
    between.push(seen.length);
    await nextTurn();
  }
  await seeing;
  expect(between.filter((count) => count > 0)).toEqual([100, 200]);
  expect(seen).toEqual(crowd);
});
