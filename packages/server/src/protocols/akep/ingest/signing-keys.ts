import type { VerifyingKey } from '../../../core/events/store.ts';
import type { SpaceId } from '../../../core/ids.ts';
import type { Room } from '../../../core/room.ts';
import { LIMITS } from '../schema.ts';

export type Wanted = { keyId: string | null; space: SpaceId | null };

/**
 * The keys that may have signed a request; one that the header names also when it has ended, so that its owner can be
 * told (K31). Requests of one turn of the event loop share one look-up, which is
 * forgotten with the turn, so a revoked key is refused as promptly as without it.
 */
export class SigningKeys {
  readonly #room: Room;
  #ofThisTurn = new Map<string, VerifyingKey[] | Promise<VerifyingKey[]>>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** Synchronous if the same was just asked for. */
  find(wanted: Wanted): VerifyingKey[] | Promise<VerifyingKey[]> {
    const name = `${wanted.space}\n${wanted.keyId}`;
    return this.#ofThisTurn.get(name) ?? this.#share(name, this.#look(wanted));
  }

  #share(name: string, look: Promise<VerifyingKey[]>): Promise<VerifyingKey[]> {
    const turn = this.#ofThisTurn;
    if (turn.size === 0) {
      setImmediate(() => {
        this.#ofThisTurn = new Map();
      });
    }
    turn.set(name, look);
    look.then(
      (found) => turn.get(name) === look && turn.set(name, found),
      () => turn.delete(name),
    );
    return look;
  }

  async #look({ keyId, space }: Wanted): Promise<VerifyingKey[]> {
    const { directory } = this.#room.store;
    if (keyId === null) return directory.unnamedKeys(space, this.#room.clock.now(), LIMITS.unnamedKeys);
    const found = await directory.producerKey(keyId);
    return found !== null && (space === null || found.key.space === space) ? [found] : [];
  }
}
