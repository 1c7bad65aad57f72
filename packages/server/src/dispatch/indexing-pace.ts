import { LARGE_STEP } from '../core/deliveries/index-words.ts';

/** How much the index takes in one step, how long it rests after each part of that, and after all of it. */
export type Pace = { lines: number; restAfterPart(tookMs: number): number; restMs: number };

/** Busier than this it would only compete with what agents and people do: the writing thread needs a core as well. */
const SATURATED = 0.5;
const SMALL_STEP = 50;
const PATIENCE_MS = 2_000;
/** Of the time that nobody else needs. */
const SHARE = 0.8;

/**
 * The pace for a server that has been busy for this part of the time (0 to 1). It follows the time that is left over:
 * most of that is enough to keep up with hundreds of deliveries a second, without waiting for a silence that may never
 * come. The rests lie between the parts, so that whoever comes is served between two of them.
 */
export function paceAt(busy: number): Pace {
  if (busy > SATURATED) return { lines: SMALL_STEP, restAfterPart: () => 0, restMs: PATIENCE_MS };
  const share = SHARE * (1 - busy);
  return { lines: LARGE_STEP, restAfterPart: (tookMs) => tookMs * (1 / share - 1), restMs: 0 };
}
