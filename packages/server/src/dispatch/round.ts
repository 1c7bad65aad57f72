import { isAway } from '../core/faults.ts';

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

  /** Runs a step for each item of a list, all at once. */
  async each<T>(list: () => Promise<readonly T[]>, work: (item: T) => Promise<unknown>): Promise<void> {
    await this.try(async () => {
      await Promise.all((await list()).map((item) => this.try(() => work(item))));
    });
  }
}
