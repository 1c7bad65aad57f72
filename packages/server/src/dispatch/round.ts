import { isAway } from '../core/faults.ts';

/**
 * Work of which nothing stops anything else: a damaged row of one space must not hold up the rest of the house. Only a
 * store that is away ends it, because all that is left would wait for it in vain. What went wrong is told at the end.
 */
export class Round {
  readonly troubles: unknown[] = [];
  readonly #isCutShort: () => boolean;

  constructor(isCutShort: () => boolean) {
    this.#isCutShort = isCutShort;
  }

  /** In a turn of its own: however many steps there are, requests come between them. */
  async try(work: () => Promise<unknown>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#isCutShort() || this.troubles.some(isAway)) return;
    try {
      await work();
    } catch (problem) {
      this.troubles.push(problem);
    }
  }

  /** Each of what is listed, all at once. */
  async each<T>(list: () => Promise<readonly T[]>, work: (item: T) => Promise<unknown>): Promise<void> {
    await this.try(async () => {
      await Promise.all((await list()).map((item) => this.try(() => work(item))));
    });
  }
}
