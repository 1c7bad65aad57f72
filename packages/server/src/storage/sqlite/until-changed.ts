import { ShortMemory } from '../../core/maps.ts';
import type { Tables } from '../tables.ts';

/** A number that changes whenever somebody else has changed the store. */
export type Version = () => number;

const MOST = 10_000;

/**
 * Answers that stay right until somebody changes what they were read from. Our own commits name the tables they
 * wrote; those of another process (the command line) are noticed by the version, which is checked once per turn of
 * the event loop: a check for every request would cost half as much as the query it saves.
 */
export class UntilChanged<T extends object> {
  /** All tables that the answers are read from. */
  readonly from: readonly (keyof Tables)[];
  readonly #version: Version;
  readonly #answers = new ShortMemory<string, T>(MOST);
  #seen = Number.NaN;
  #looked = false;

  constructor(from: readonly (keyof Tables)[], version: Version) {
    this.from = from;
    this.#version = version;
  }

  async get(key: string, find: () => Promise<T | null>): Promise<T | null> {
    this.#look();
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const seen = this.#seen;
    const found = await find();
    // Misses are not remembered: guesses must not fill the memory.
    if (found !== null && seen === this.#seen) this.#keep(key, found);
    return found;
  }

  /** After a commit of ours. */
  wrote(tables: ReadonlySet<string>): void {
    if (this.from.some((table) => tables.has(table))) this.forget();
  }

  forget(): void {
    this.#answers.clear();
    this.#seen = Number.NaN;
    this.#looked = false;
  }

  #look(): void {
    if (this.#looked) return;
    const version = this.#version();
    if (version !== this.#seen) this.#answers.clear();
    this.#seen = version;
    this.#looked = true;
    setImmediate(() => {
      this.#looked = false;
    });
  }

  #keep(key: string, answer: T): void {
    this.#answers.set(key, answer);
  }
}
