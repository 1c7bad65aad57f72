import type { Producer } from '../../../core/events/producer.ts';
import type { Fault } from '../../../core/faults.ts';
import { ShortMemory } from '../../../core/maps.ts';
import { type Bucket, fullBucket, type Rate, take } from '../../../core/rate.ts';
import type { Room } from '../../../core/room.ts';
import { AKEP_DOOR } from '../errors.ts';

/** One a second, with a burst: enough to help a developer, too little to fill a disk. */
const NOTED: Rate = { perHour: 3600, burst: 100 };
const MOST_PRODUCERS = 10_000;

/** Refused events and the reasons, kept for a week to help the producer's developer. Nobody waits for the write. */
export class RefusalNotes {
  readonly #room: Room;
  readonly #buckets = new ShortMemory<string, Bucket>(MOST_PRODUCERS);

  constructor(room: Room) {
    this.#room = room;
  }

  note({ space, id }: Producer, eventId: string, fault: Fault): void {
    const at = this.#room.clock.now();
    const name = `${space}\n${id}`;
    const taken = take(this.#buckets.get(name) ?? fullBucket(NOTED, at), NOTED, at);
    if (taken.kind === 'empty') return;
    this.#buckets.set(name, taken.bucket);
    const status = AKEP_DOOR.status[fault.fault];
    const refusal = {
      space,
      producer: id,
      at,
      eventId: eventId.slice(0, 128),
      status,
      reason: fault.message,
    };
    // If the store cannot be written, there are worse problems than a missing note.
    this.#room.store.write(space, [], (tx) => tx.producers.insertRefusal(refusal)).catch(() => {});
  }
}
