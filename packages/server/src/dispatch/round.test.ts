import { expect, test } from 'vitest';
import { Fault } from '../core/faults.ts';
import { Round } from './round.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[D13] however many steps a round has, requests come between them', async () => {
  const round = new Round(() => false);
  const seen: string[] = [];
  const steps = (async () => {
    for (let n = 0; n < 3; n++) await round.try(async () => seen.push('step'));
  })();
  for (let n = 0; n < 3; n++) {
    await turn();
    seen.push('request');
  }
  await steps;
  expect(seen).toEqual(['step', 'request', 'step', 'request', 'step', 'request']);
});

test('[D13] a step that fails stops no other; a store that is away stops the rest', async () => {
  const round = new Round(() => false);
  const done: string[] = [];
  const step = (name: string, reason?: unknown) =>
    round.try(async () => {
      done.push(name);
      if (reason !== undefined) throw reason;
    });
  await step('damaged', new Error('a row'));
  await step('next');
  await step('away', new Fault('unavailable', 'The store does not answer.'));
  await step('too late');
  expect(done).toEqual(['damaged', 'next', 'away']);
  expect(round.troubles).toHaveLength(2);
});
