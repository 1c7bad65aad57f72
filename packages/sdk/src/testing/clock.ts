import type { Clock } from '../clock.ts';

export interface ManualClock extends Clock {
  /** Every sleep so far, in ms. */
  readonly naps: readonly number[];
  advance(ms: number): void;
}

/** A clock that nobody waits for: a sleep moves it forward and ends at once. */
export function manualClock(startMs = Date.parse('2026-03-08T12:00:00Z')): ManualClock {
  const naps: number[] = [];
  let nowMs = startMs;
  return {
    naps,
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    sleep: async (ms) => {
      naps.push(ms);
      nowMs += ms;
    },
  };
}
