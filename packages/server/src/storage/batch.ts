import { Fault, isAway, isFault } from '../core/faults.ts';
import type { SpaceId } from '../core/ids.ts';
import type { HeadName, News, Topic, Tx } from '../core/store.ts';

/** One unit of work that waits for its commit. */
export type Unit = {
  space: SpaceId;
  heads: readonly HeadName[];
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
};

export type Announcement = { topic: Topic; about: string };

export type Done = { unit: Unit; value: unknown; announced: Announcement[] };

/** The units that wait for the next batch. */
export interface Queue {
  /** Adds the waiting units that fit to this batch, which must not have begun to run yet. */
  join(fits: (unit: Unit) => boolean): void;
  /** The next batch may begin although this one is not on disk yet. */
  next(): void;
}

/** What a database must offer so that units can share a transaction. */
export interface BatchRunner {
  /** Runs all units in one transaction and commits; throws, with everything rolled back, when any of them throws. */
  commit(units: readonly Unit[], queue: Queue): Promise<Done[]>;
}

const LARGEST = 256;
const ALONE: Queue = { join: () => {}, next: () => {} };

/**
 * Group commit. Units that arrive in the same turn of the event loop share one transaction and one fsync. When a
 * unit throws, the batch is rolled back and each unit runs again by itself, so that one bad unit harms no other.
 */
export class GroupCommit {
  #waiting: Unit[] = [];
  /** The batch that was started last; null once the next one may start. */
  #running: Promise<void> | null = null;
  readonly #underWay = new Set<Promise<void>>();
  #closed = false;
  readonly #runner: BatchRunner;
  readonly #tell: (news: News) => void;

  constructor(runner: BatchRunner, tell: (news: News) => void) {
    this.#runner = runner;
    this.#tell = tell;
  }

  submit<T>(space: SpaceId, heads: readonly HeadName[], work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#closed)
      return Promise.reject(
        new Fault('unavailable', 'The server is shutting down. Retry in a moment.', { retryAfter: 2 }),
      );
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ space, heads, work, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#soon();
    });
  }

  /** Waits for what was submitted, and takes nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#running !== null) await this.#running;
    await Promise.all(this.#underWay);
  }

  async #soon(): Promise<void> {
    // One turn of the event loop: every request that has already arrived joins this batch.
    await nextTurn();
    const units = this.#waiting.splice(0, LARGEST);
    await new Promise<void>((next) => {
      const queue = { next, join: (fits: (unit: Unit) => boolean) => this.#join(units, fits) };
      const ended = this.#runBatch(units, queue).finally(() => {
        this.#underWay.delete(ended);
        next();
      });
      this.#underWay.add(ended);
    });
    this.#running = this.#waiting.length > 0 ? this.#soon() : null;
  }

  async #runBatch(units: readonly Unit[], queue: Queue): Promise<void> {
    let done: Done[];
    try {
      done = await this.#runner.commit(units, queue);
    } catch (reason) {
      return this.#afterFailure(units, reason);
    }
    // Outside of the try: what is committed must never run again.
    this.#settle(done);
  }

  #join(units: Unit[], fits: (unit: Unit) => boolean): void {
    this.#waiting = this.#waiting.filter((unit) => {
      if (units.length >= LARGEST || !fits(unit)) return true;
      units.push(unit);
      return false;
    });
  }

  async #afterFailure(units: readonly Unit[], reason: unknown): Promise<void> {
    if (units.length === 1 || isAway(reason)) {
      for (const unit of units) unit.reject(reason);
      return;
    }
    for (const unit of units) {
      await this.#runBatch([unit], ALONE);
      // A caller that was just answered can read before the next commit, and so sees one state of the store and not two.
      await nextTurn();
    }
  }

  #settle(done: readonly Done[]): void {
    const news = new Map<Topic, Set<string>>();
    for (const { unit, value, announced } of done) {
      unit.resolve(value);
      for (const { topic, about } of announced) {
        const known = news.get(topic);
        if (known === undefined) news.set(topic, new Set([about]));
        else known.add(about);
      }
    }
    if (news.size > 0) this.#tell(news);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A refusal must leave nothing behind; one that does is a bug, and is stopped here. */
export function assertCleanRefusal(value: unknown, wrote: boolean): void {
  if (wrote && isFault(value)) throw new Error(`a refused unit (${value.fault}) had already written`);
}
