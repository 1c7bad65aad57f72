import { expect, test } from 'vitest';
import { paceAt } from './indexing-pace.ts';

/** How many lines a second the index takes in when each of them costs it so much. */
function linesPerSecond(busy: number, millisEach: number): number {
  const { lines, restAfterPart, restMs } = paceAt(busy);
  const took = lines * millisEach;
  return (lines / (took + restAfterPart(took) + restMs)) * 1000;
}

test('[D47] the index keeps up with hundreds of deliveries a second while there is time for it', () => {
  expect(linesPerSecond(0, 1.5)).toBeGreaterThan(500);
  expect(linesPerSecond(0.25, 1.5)).toBeGreaterThan(300);
});

test('[D47] the index takes only of the time that nobody else needs', () => {
  for (const busy of [0, 0.2, 0.4, 0.5]) {
    const took = 100;
    const share = took / (took + paceAt(busy).restAfterPart(took));
    expect(share).toBeLessThanOrEqual(0.8 * (1 - busy) + 1e-9);
  }
});

test('[D47] the index takes a small step now and then where there is no time left', () => {
  expect(paceAt(0.6).lines).toBeLessThan(paceAt(0.5).lines);
  for (const busy of [0.6, 1]) expect(linesPerSecond(busy, 1.5)).toBeLessThan(25);
});
