import type { Clock, Micros } from '../../core/time.ts';
import type { Greeting } from './link.ts';

type Sample = Greeting['clock'];

/** Samples older than this are no longer trusted: two clocks drift apart. */
const STALE_MS = 60_000;
/** Two steady clocks drift apart by far less between two looks. */
const DRIFT_MS = 100;

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

  /** The answer that travelled the shortest way tells the time best, until one says that the clock has jumped. */
  heard(sample: Sample): void {
    const best = this.#best;
    if (
      best === null ||
      sample.error <= best.error ||
      sample.here - best.here > STALE_MS ||
      jumped(best, sample)
    )
      this.#best = sample;
  }

  now(): Micros {
    if (this.#best === null) throw new Error('the database was not asked for the time yet');
    return this.#best.database + Math.floor((this.#here() - this.#best.here) * 1000);
  }
}

/** Both cannot be right: the database's clock was set, it is another database now, or this machine has slept. */
function jumped(before: Sample, after: Sample): boolean {
  const expected = before.database + (after.here - before.here) * 1000;
  return Math.abs(after.database - expected) / 1000 > before.error + after.error + DRIFT_MS;
}
