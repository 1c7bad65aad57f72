import type { Clock, Micros } from '../../core/time.ts';
import type { Greeting } from './link.ts';

type Sample = Greeting['clock'];

/** Samples older than this are no longer trusted: two clocks drift apart. */
const STALE_MS = 60_000;

/**
 * The database's time. Every replica follows it, so leases, undo windows and schedules mean the same moment to all of
 * them, whatever their own clocks say. Between two looks the process's own steady clock counts on.
 */
export class DatabaseClock implements Clock {
  #best: Sample | null = null;
  readonly #here: () => number;

  constructor(here: () => number = () => performance.now()) {
    this.#here = here;
  }

  /** The answer with the shortest round trip tells the time best. */
  heard(sample: Sample): void {
    const best = this.#best;
    if (best === null || sample.error <= best.error || sample.here - best.here > STALE_MS)
      this.#best = sample;
  }

  now(): Micros {
    if (this.#best === null) throw new Error('the database was not asked for the time yet');
    return this.#best.database + Math.floor((this.#here() - this.#best.here) * 1000);
  }
}
