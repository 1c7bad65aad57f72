import type { SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import { type Attempted, settleJobs } from '../core/sending/settle-job.ts';

type Waiting = Attempted & { resolve: (taken: boolean) => void; reject: (reason: unknown) => void };

/** As many as one transaction should carry. */
const LARGEST = 128;

/**
 * Attempts that end while others are being put on the record are put there together: one statement changes all of their
 * jobs. One that cannot be recorded harms no other.
 */
export class Records {
  readonly #room: Room;
  /** A space is here while something of it is being written. */
  readonly #waiting = new Map<SpaceId, Waiting[]>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** False when the lease was lost meanwhile. */
  settle(attempted: Attempted): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const { space } = attempted.job;
      const one = { ...attempted, resolve, reject };
      const waiting = this.#waiting.get(space);
      if (waiting !== undefined) return void waiting.push(one);
      this.#waiting.set(space, [one]);
      // Whatever ends in this turn of the loop comes along.
      setImmediate(() => void this.#writeAll(space));
    });
  }

  async #writeAll(space: SpaceId): Promise<void> {
    const waiting = this.#waiting.get(space) ?? [];
    while (waiting.length > 0) await this.#write(space, waiting.splice(0, LARGEST));
    this.#waiting.delete(space);
  }

  async #write(space: SpaceId, page: readonly Waiting[]): Promise<void> {
    try {
      const taken = await settleJobs(this.#room, space, page);
      for (const [i, { resolve }] of page.entries()) resolve(taken[i] ?? false);
    } catch (reason) {
      if (page.length === 1) return page[0]?.reject(reason);
      for (const one of page) await this.#write(space, [one]);
    }
  }
}
