import type { KeyRecord } from '../../core/agents/key.ts';
import { noteExposed } from '../../core/agents/keys.ts';
import { ShortMemory } from '../../core/maps.ts';
import type { Room } from '../../core/room.ts';
import { HOUR, type Micros } from '../../core/time.ts';

const MOST_KEYS = 10_000;

/**
 * Live keys that came over plain HTTP (W2). A refused request costs its caller nothing, and the ledger is kept for
 * ever: a client in a loop would fill it, so each key is noted once an hour.
 */
export class ExposedKeys {
  readonly #room: Room;
  readonly #quietUntil = new ShortMemory<string, Micros>(MOST_KEYS);

  constructor(room: Room) {
    this.#room = room;
  }

  async note(key: KeyRecord, from: string): Promise<void> {
    const now = this.#room.clock.now();
    if (now < (this.#quietUntil.get(key.id) ?? now)) return;
    this.#quietUntil.set(key.id, now + HOUR);
    try {
      await noteExposed(this.#room, key, from);
    } catch (reason) {
      this.#quietUntil.delete(key.id);
      throw reason;
    }
  }
}
