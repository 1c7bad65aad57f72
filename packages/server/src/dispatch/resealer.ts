import { resealAll, resealHeads } from '../core/resealing.ts';
import type { Room } from '../core/room.ts';

export interface ResealerParts {
  room: Room;
  /** From now on the first of the given keys seals; true when something is still sealed with another. */
  takeUpKey(): Promise<boolean>;
  /** Everything is sealed with the new key, signatures included; this is recorded. */
  finish(): Promise<void>;
  note(message: string): void;
  warn(problem: unknown, message: string): void;
}

const LEAST_REST_MS = 1;
const AFTER_TROUBLE_MS = 5_000;

/** Replaces a master key while the data is in use. If it is killed at any point, the next start continues from there. */
export class Resealer {
  readonly #parts: ResealerParts;
  #isDue = false;
  #working: Promise<void> | null = null;
  #stopped = false;
  #wake = () => {};

  constructor(parts: ResealerParts) {
    this.#parts = parts;
  }

  /** Before the first record is sealed. */
  async takeUp(): Promise<void> {
    this.#isDue = await this.#parts.takeUpKey();
  }

  start(): void {
    if (!this.#isDue) return;
    this.#parts.note('the master key is being replaced; records are resealed in the background');
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      try {
        // Other replicas may still seal with the old key, so only a pass that finds nothing is the last one.
        if (!(await this.#walk())) continue;
        for await (const _ of resealHeads(this.#parts.room)) {
          if (this.#stopped) return;
        }
        if (this.#stopped) return;
        await this.#parts.finish();
        this.#parts.note(
          'everything is sealed with the new master key; "lanternroom key drop" removes the old one',
        );
        return;
      } catch (problem) {
        this.#parts.warn(problem, 'resealing has stumbled; it continues by itself');
        await this.#rest(AFTER_TROUBLE_MS);
      }
    }
  }

  /**
   * True when nothing was left to do. After each step it rests as long as the step took: at most half of one core, and
   * nobody waits long.
   */
  async #walk(): Promise<boolean> {
    let changed = 0;
    let startedAt = performance.now();
    for await (const step of resealAll(this.#parts.room)) {
      if (this.#stopped) return false;
      changed += step.changed;
      for (const identity of step.damaged)
        this.#parts.warn(null, `${identity} does not open and stays as it is`);
      await this.#rest(Math.max(LEAST_REST_MS, performance.now() - startedAt));
      startedAt = performance.now();
    }
    return changed === 0;
  }

  #rest(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#stopped ? 0 : millis);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
