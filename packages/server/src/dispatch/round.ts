import { setTimeout as sleep } from 'node:timers/promises';
import { isAway } from '../core/faults.ts';

/** A long clearing takes this share of the time, so that requests hardly notice it. */
const REST_AFTER_STEP = 4;
const LONGEST_REST_MS = 1_000;
/** Then the next kind of leftover has its turn, and this one goes on in the next round. */
const LONGEST_CLEARING_MS = 10_000;

/**
 * Steps that do not depend on each other: a damaged row in one space must not stop the work for all others. Only a store
 * that cannot be reached ends the round, because every other step would fail as well. Problems are reported at the end.
 */
export class Round {
  readonly troubles: unknown[] = [];
  readonly #isCutShort: () => boolean;

  constructor(isCutShort: () => boolean) {
    this.#isCutShort = isCutShort;
  }

  /** Each step has its own turn of the event loop, so that requests are served between any two of them. */
  async try(work: () => Promise<unknown>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isCutShort() || this.troubles.some(isAway)) return;
    try {
      await work();
    } catch (problem) {
      this.troubles.push(problem);
    }
  }

  /**
   * Repeats a step that removes a limited number of rows, until it says that there is no more: on a busy server more
   * becomes old in a minute than one step removes.
   */
  async clear(step: () => Promise<boolean>): Promise<void> {
    const endsAt = performance.now() + LONGEST_CLEARING_MS;
    let isMore = true;
    while (isMore && performance.now() < endsAt) {
      isMore = false;
      await this.try(async () => {
        const startedAt = performance.now();
        isMore = await step();
        const tookMs = performance.now() - startedAt;
        if (isMore) await sleep(Math.min(LONGEST_REST_MS, REST_AFTER_STEP * tookMs));
      });
    }
  }

  /** Runs a step for each item of a list, all at once. */
  async each<T>(list: () => Promise<readonly T[]>, work: (item: T) => Promise<unknown>): Promise<void> {
    await this.try(async () => {
      await Promise.all((await list()).map((item) => this.try(() => work(item))));
    });
  }
}
