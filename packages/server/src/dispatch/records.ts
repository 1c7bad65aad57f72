import type { SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import { type Attempted, settleJobs } from '../core/sending/settle-jobs.ts';

type Waiting = Attempted & { resolve: (taken: boolean) => void; reject: (reason: unknown) => void };

/**
 * Attempts that end while others are written are put on the record together, space by space. One that cannot be recorded
 * harms no other.
 */
export class Records {
  readonly #room: Room;
  /** The attempts that wait for the next page, for each space that is being written. */
  readonly #waiting = new Map<SpaceId, Waiting[]>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** False when the lease was lost meanwhile. */
  settle({ job, ended }: Attempted): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(job.space) ?? this.#begin(job.space);
      waiting.push({ job, ended, resolve, reject });
    });
  }

  #begin(space: SpaceId): Waiting[] {
    const waiting: Waiting[] = [];
    this.#waiting.set(space, waiting);
    // Every attempt that ends in this turn of the event loop joins the first page.
    setImmediate(() => void this.#writeAll(space, waiting));
    return waiting;
  }

  async #writeAll(space: SpaceId, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) await this.#write(space, waiting.splice(0));
    this.#waiting.delete(space);
  }

  async #write(space: SpaceId, page: readonly Waiting[]): Promise<void> {
    try {
      const taken = await settleJobs(this.#room, {
        space,
        page: page.map(({ job, ended }) => ({ job, ended })),
      });
      for (const [i, { resolve }] of page.entries()) resolve(taken[i] ?? false);
    } catch (reason) {
      if (page.length === 1) return page[0]?.reject(reason);
      for (const one of page) await this.#write(space, [one]);
    }
  }
}
