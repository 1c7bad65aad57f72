import { LARGE_STEP } from '../core/deliveries/search/index-words.ts';

/** How many lines a step of the indexer takes, how long it rests after each part of the step, and after the step. */
export type Pace = { lines: number; restAfterPart(tookMs: number): number; restMs: number };

/** On a busier server the indexer would compete with requests: the writing thread needs a core as well. */
const SATURATED = 0.5;
const SMALL_STEP = 50;
const PATIENCE_MS = 2_000;
/** The indexer's share of the idle time. */
const SHARE = 0.8;

/**
 * The pace for a server that has been busy for this part of the time (0 to 1). The indexer uses most of the idle time,
 * which is enough to keep up with hundreds of deliveries a second without waiting for a silence that may never come. It
 * rests between the parts of a step, so that requests are served between them.
 */
export function paceAt(busy: number): Pace {
  if (busy > SATURATED) return { lines: SMALL_STEP, restAfterPart: () => 0, restMs: PATIENCE_MS };
  const share = SHARE * (1 - busy);
  return { lines: LARGE_STEP, restAfterPart: (tookMs) => tookMs * (1 / share - 1), restMs: 0 };
}
