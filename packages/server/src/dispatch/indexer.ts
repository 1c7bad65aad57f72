import { indexSome } from '../core/deliveries/index-words.ts';
import type { SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import type { News } from '../core/store.ts';

export interface IndexerParts {
  room: Room;
  wakeups: { onAny(hear: (news: News) => void): () => void };
  warn(problem: unknown, message: string): void;
}

/** The index waits for this much silence, so that it never competes with what agents and people do. */
const QUIET_MS = 200;
/** Under steady load it takes one small step this often. */
const PATIENCE_MS = 2_000;
const AFTER_TROUBLE_MS = 5_000;
/** After each step it rests four times as long: a long way to catch up takes a fifth of one core, not all of it. */
const REST = 4;

/** Fills the index of words in the background, along the ledger. Nobody ever waits for it. */
export class Indexer {
  readonly #parts: IndexerParts;
  readonly #behind = new Set<SpaceId>();
  #off = () => {};
  #timer: NodeJS.Timeout | null = null;
  #stepping: Promise<void> | null = null;
  #stopped = false;
  #heardAt = 0;
  #steppedAt = 0;

  constructor(parts: IndexerParts) {
    this.#parts = parts;
  }

  /** Every space may have been left behind by the last stop. */
  async start(): Promise<void> {
    this.#off = this.#parts.wakeups.onAny((news) => this.#hear(news));
    for (const { id } of await this.#parts.room.store.directory.spaces()) this.#behind.add(id);
    this.#plan(QUIET_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#off();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#stepping;
  }

  /** All of it, now. */
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
    if (this.#behind.size === 0) return;
    this.#heardAt = performance.now();
    this.#plan(QUIET_MS);
  }

  #plan(millis: number): void {
    if (this.#stopped || this.#timer !== null || this.#stepping !== null) return;
    this.#timer = setTimeout(() => this.#wake(), millis);
  }

  #wake(): void {
    this.#timer = null;
    const now = performance.now();
    const isBusy = now - this.#heardAt < QUIET_MS && now - this.#steppedAt < PATIENCE_MS;
    if (isBusy) this.#plan(QUIET_MS);
    else this.#start(now);
  }

  #start(now: number): void {
    this.#steppedAt = now;
    this.#stepping = this.#step().then((pause) => {
      this.#stepping = null;
      if (this.#behind.size > 0) this.#plan(pause);
    });
  }

  /** One small step for each space that is behind. Returns the pause before the next. */
  async #step(): Promise<number> {
    const startedAt = performance.now();
    try {
      for (const space of [...this.#behind]) {
        // Taken off first: what is announced meanwhile puts it back.
        this.#behind.delete(space);
        if (await indexSome(this.#parts.room, space)) this.#behind.add(space);
      }
      return REST * (performance.now() - startedAt);
    } catch (problem) {
      this.#parts.warn(problem, 'the index of words could not be written');
      return AFTER_TROUBLE_MS;
    }
  }
}
