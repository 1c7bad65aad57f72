import { setTimeout as sleep } from 'node:timers/promises';
import { indexSome } from '../core/deliveries/search/index-words.ts';
import type { SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import type { News } from '../core/store.ts';
import { type Pace, paceAt } from './indexing-pace.ts';
import { LoopLoad } from './loop-load.ts';

export interface IndexerParts {
  room: Room;
  wakeups: { onAny(hear: (news: News) => void): () => void };
  warn(problem: unknown, message: string): void;
  /** How fast it works on a server that is so busy; `paceAt` unless a test says otherwise. */
  pace?(busy: number): Pace;
}

/** It lets news gather for this long: one step for many deliveries costs less than one for each. */
const GATHER_MS = 200;
const AFTER_TROUBLE_MS = 5_000;

/** Fills the index of words in the background, following the ledger. No request ever waits for it. */
export class Indexer {
  readonly #parts: IndexerParts;
  readonly #behind = new Set<SpaceId>();
  readonly #load = new LoopLoad();
  #off = () => {};
  #timer: NodeJS.Timeout | null = null;
  #stepping: Promise<void> | null = null;
  #stopped = false;
  #restUntil = 0;

  constructor(parts: IndexerParts) {
    this.#parts = parts;
  }

  /** At the start every space counts as unfinished: the last stop may have interrupted it. */
  async start(): Promise<void> {
    this.#off = this.#parts.wakeups.onAny((news) => this.#hear(news));
    for (const { id } of await this.#parts.room.store.directory.spaces()) this.#behind.add(id);
    this.#plan(GATHER_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#off();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#stepping;
  }

  /** Indexes everything that is missing, now. */
  async catchUp(): Promise<void> {
    await this.#stepping;
    for (const { id } of await this.#parts.room.store.directory.spaces()) {
      while (await indexSome(this.#parts.room, id));
    }
  }

  #hear(news: News): void {
    for (const topic of news.keys()) {
      if (topic.startsWith('desk:')) this.#behind.add(topic.slice('desk:'.length));
    }
    if (this.#behind.size > 0) this.#plan(GATHER_MS);
  }

  /** Wakes after this time, but not before its rest is over. */
  #plan(millis: number): void {
    if (this.#stopped || this.#timer !== null || this.#stepping !== null) return;
    const rest = this.#restUntil - performance.now();
    this.#timer = setTimeout(() => this.#wake(), Math.max(millis, rest));
  }

  #wake(): void {
    this.#timer = null;
    this.#load.work();
    const { pace = paceAt } = this.#parts;
    this.#stepping = this.#step(pace(this.#load.take())).then(({ more, restMs }) => {
      this.#stepping = null;
      this.#load.rest();
      this.#restUntil = performance.now() + restMs;
      if (this.#behind.size > 0) this.#plan(more ? 0 : GATHER_MS);
    });
  }

  /** One step for each unfinished space. Says whether there is more to do at once, and how long to rest before it. */
  async #step(pace: Pace): Promise<{ more: boolean; restMs: number }> {
    const behind = [...this.#behind];
    const step = { lines: pace.lines, letOthers: this.#resting(pace) };
    let more = false;
    try {
      for (const space of behind) {
        // Removed first, because news that arrive meanwhile add it again.
        this.#behind.delete(space);
        if (!(await indexSome(this.#parts.room, space, step))) continue;
        this.#behind.add(space);
        more = true;
      }
      // Resting is for a load that it cannot keep up with; once it has caught up, the next lines need no rest.
      return { more, restMs: more ? pace.restMs : 0 };
    } catch (problem) {
      this.#parts.warn(problem, 'the index of words could not be written');
      // No news may come for a long time, so it tries again by itself.
      for (const space of behind) this.#behind.add(space);
      return { more, restMs: AFTER_TROUBLE_MS };
    }
  }

  /** Rests after each part as long as the pace demands, but not while the server shuts down. */
  #resting({ restAfterPart }: Pace): () => Promise<void> {
    let startedAt = performance.now();
    return async () => {
      const rest = restAfterPart(performance.now() - startedAt);
      this.#load.rest();
      await (this.#stopped || rest < 1 ? nextTurn() : sleep(rest));
      this.#load.work();
      startedAt = performance.now();
    };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
