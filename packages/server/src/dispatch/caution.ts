import { HOUR, type Micros } from '../core/time.ts';

const LEAP: Micros = HOUR;
const AFTER_START_MS = 10 * 60_000;
const AFTER_LEAP_MS = 6 * 60 * 60_000;

/**
 * A clock that is wrong makes everything look old, and what was removed is not there again when the clock is set right.
 * So nothing is removed for a while after a start, when a machine may not have asked for the time yet, and for longer
 * after the clock has leapt forward. A machine that has slept looks the same; that costs it nothing but the while.
 */
export class Caution {
  #endsAt = performance.now() + AFTER_START_MS;
  #last: { clock: Micros; steady: number } | null = null;

  /** True when the clock has leapt forward since it was last seen. */
  see(clock: Micros): boolean {
    const steady = performance.now();
    const before = this.#last ?? { clock, steady };
    this.#last = { clock, steady };
    const passed = (steady - before.steady) * 1000;
    const hasLeapt = clock - before.clock - passed > LEAP;
    if (hasLeapt) this.#endsAt = steady + AFTER_LEAP_MS;
    return hasLeapt;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt;
  }
}
