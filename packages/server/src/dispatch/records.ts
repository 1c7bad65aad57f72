import type { SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import { type Attempted, settleJobs } from '../core/sending/settle-job.ts';

type Waiting = Attempted & { resolve: (taken: boolean) => void; reject: (reason: unknown) => void };

/**
 * Attempts that end before it is their turn to be written are put on the record together. One that cannot be recorded
 * harms no other.
 */
export class Records {
  readonly #room: Room;
  /** Those of a space that more can join. */
  readonly #open = new Map<SpaceId, Waiting[]>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** False when the lease was lost meanwhile. */
  settle(attempted: Attempted): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const { space } = attempted.job;
      const one = { ...attempted, resolve, reject };
      const open = this.#open.get(space);
      if (open !== undefined) return void open.push(one);
      const page = [one];
      this.#open.set(space, page);
      void this.#write(space, page);
    });
  }

  async #write(space: SpaceId, page: readonly Waiting[]): Promise<void> {
    try {
      const taken = await settleJobs(this.#room, space, () => this.#close(space, page));
      for (const [i, { resolve }] of page.entries()) resolve(taken[i] ?? false);
    } catch (reason) {
      this.#close(space, page);
      if (page.length === 1) return page[0]?.reject(reason);
      for (const one of page) await this.#write(space, [one]);
    }
  }

  #close(space: SpaceId, page: readonly Waiting[]): readonly Waiting[] {
    if (this.#open.get(space) === page) this.#open.delete(space);
    return page;
  }
}
