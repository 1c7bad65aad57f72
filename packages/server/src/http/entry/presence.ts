import type { FastifyInstance } from 'fastify';
import type { SpaceId } from '../../core/ids.ts';
import { entry } from '../../core/maps.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { type Micros, SECOND } from '../../core/time.ts';

const FLUSH_EVERY: Micros = 30 * SECOND;
/** Thousands in one transaction would hold up everybody who wants to write. */
const AT_ONCE = 200;

/** Of an agent, a producer or a caller's token. */
type Id = string;

type WriteSeen = (tx: Tx, id: Id, at: Micros) => Promise<void>;

/**
 * When each agent, producer or token was last seen. Kept in memory and written now and then: a write for every poll
 * would cost more than the poll. A crash loses half a minute of "last seen".
 */
export class Presence {
  readonly #room: Room;
  readonly #write: WriteSeen;
  readonly #bySpace = new Map<SpaceId, Map<Id, Micros>>();
  #unwritten = new Map<SpaceId, Set<Id>>();
  #flushAt: Micros = 0;

  constructor(room: Room, write: WriteSeen) {
    this.#room = room;
    this.#write = write;
  }

  /** For agents: every request with a good key counts, even a poll. */
  watch(app: FastifyInstance): void {
    app.addHook('preHandler', (request, _, done) => {
      const { identity } = request;
      if (identity !== null) this.note(identity.key.space, identity.key.agent);
      done();
    });
  }

  note(space: SpaceId, id: Id): void {
    entry(this.#bySpace, space, () => new Map<Id, Micros>()).set(id, this.#room.clock.now());
    entry(this.#unwritten, space, () => new Set<Id>()).add(id);
  }

  /** What this server has seen may not be written yet; of what others have seen, only the written part is known. */
  lastSeen(space: SpaceId, id: Id, written: Micros | null): Micros | null {
    const here = this.#seenHere(space, id);
    return here === null || written === null ? (here ?? written) : Math.max(here, written);
  }

  #seenHere(space: SpaceId, id: Id): Micros | null {
    return this.#bySpace.get(space)?.get(id) ?? null;
  }

  /** Writes at most every half minute, in small transactions. */
  async flushIfDue(): Promise<void> {
    const now = this.#room.clock.now();
    // Further ahead than it is ever set: the clock was set back.
    const isEarly = now < this.#flushAt && this.#flushAt - now <= FLUSH_EVERY;
    if (isEarly || this.#unwritten.size === 0) return;
    this.#flushAt = now + FLUSH_EVERY;
    await this.flush();
  }

  async flush(): Promise<void> {
    const unwritten = this.#unwritten;
    this.#unwritten = new Map();
    const troubles: unknown[] = [];
    for (const [space, ids] of unwritten) {
      await this.#writeSeen(space, ids).catch((problem: unknown) => {
        troubles.push(problem);
        // Kept for the next try: the agent may not come again, but it was here.
        for (const id of ids) entry(this.#unwritten, space, () => new Set<Id>()).add(id);
      });
    }
    if (troubles.length > 0) throw troubles[0];
  }

  async #writeSeen(space: SpaceId, ids: ReadonlySet<Id>): Promise<void> {
    const all = [...ids];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      await this.#room.store.write(space, [], async (tx) => {
        for (const id of all.slice(from, from + AT_ONCE)) {
          const at = this.#seenHere(space, id);
          if (at !== null) await this.#write(tx, id, at);
        }
      });
    }
  }
}
