import type { FastifyInstance } from 'fastify';
import type { AgentId, SpaceId } from '../core/ids.ts';
import { entry } from '../core/maps.ts';
import type { Room } from '../core/room.ts';
import type { Tx } from '../core/store.ts';
import { type Micros, SECOND } from '../core/time.ts';

const FLUSH_EVERY: Micros = 30 * SECOND;
/** Thousands in one transaction would hold up everybody who wants to write. */
const AT_ONCE = 200;

type WriteSeen = (tx: Tx, id: string, at: Micros) => Promise<void>;

/**
 * When each agent, or producer, was last heard of. Kept in memory and written down now and then: a write for every poll would cost
 * more than the poll. What a crash loses is half a minute of "last seen".
 */
export class Presence {
  readonly #room: Room;
  readonly #write: WriteSeen;
  readonly #bySpace = new Map<SpaceId, Map<AgentId, Micros>>();
  #unwritten = new Map<SpaceId, Set<AgentId>>();
  #flushAt: Micros = 0;

  constructor(room: Room, write: WriteSeen) {
    this.#room = room;
    this.#write = write;
  }

  /** Every request with a good key counts, a poll too. */
  watch(app: FastifyInstance): void {
    app.addHook('preHandler', (request, _, done) => {
      const { identity } = request;
      if (identity !== null) this.note(identity.key.space, identity.key.agent);
      done();
    });
  }

  lastSeen(space: SpaceId, agent: AgentId): Micros | null {
    return this.#bySpace.get(space)?.get(agent) ?? null;
  }

  /** Writes at most every half minute, in small transactions. */
  async flushIfDue(): Promise<void> {
    const now = this.#room.clock.now();
    // Farther ahead than it was ever set: the clock was set back.
    const isEarly = now < this.#flushAt && this.#flushAt - now <= FLUSH_EVERY;
    if (isEarly || this.#unwritten.size === 0) return;
    this.#flushAt = now + FLUSH_EVERY;
    await this.flush();
  }

  async flush(): Promise<void> {
    const unwritten = this.#unwritten;
    this.#unwritten = new Map();
    const troubles: unknown[] = [];
    for (const [space, agents] of unwritten) {
      await this.#writeSeen(space, agents).catch((problem: unknown) => {
        troubles.push(problem);
        // Whoever does not come again was here all the same.
        for (const agent of agents) entry(this.#unwritten, space, () => new Set<AgentId>()).add(agent);
      });
    }
    if (troubles.length > 0) throw troubles[0];
  }

  async #writeSeen(space: SpaceId, agents: ReadonlySet<AgentId>): Promise<void> {
    const all = [...agents];
    for (let from = 0; from < all.length; from += AT_ONCE) {
      await this.#room.store.write(space, [], async (tx) => {
        for (const agent of all.slice(from, from + AT_ONCE)) {
          const at = this.lastSeen(space, agent);
          if (at !== null) await this.#write(tx, agent, at);
        }
      });
    }
  }

  note(space: SpaceId, agent: AgentId): void {
    entry(this.#bySpace, space, () => new Map<AgentId, Micros>()).set(agent, this.#room.clock.now());
    entry(this.#unwritten, space, () => new Set<AgentId>()).add(agent);
  }
}
