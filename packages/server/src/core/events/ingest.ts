import { TOKEN_UNIT, toBucket } from '../deliveries/accept.ts';
import { Fault, isFault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Rate, take } from '../rate.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Envelope } from './event.ts';
import { headsToPlace, place } from './place.ts';
import type { Algorithm, Producer } from './producer.ts';
import { headsToReview, reviewAsDelivery } from './review.ts';
import type { Subscription } from './subscription.ts';
import { findTakers, type Taker } from './takers.ts';

export type Arriving = {
  producer: Producer;
  /** As the header named it. */
  keyId: string | null;
  algorithm: Algorithm;
  envelope: Envelope;
  /** The bytes that came, and what is kept of them. */
  raw: Uint8Array;
  kept: Uint8Array;
  rate: Rate | null;
};

export type Ingested = { duplicate: boolean };

type Known = { version: number; all: Subscription[] };

/**
 * Remembers the parsed subscriptions of a space. What is remembered may be old: the transaction that relies on it
 * compares the version, and asks for a fresh look when somebody has subscribed meanwhile.
 */
export class Subscriptions {
  readonly #known = new Map<SpaceId, Known>();

  async of(room: Room, space: SpaceId): Promise<Known> {
    const known = this.#known.get(space);
    if (known !== undefined) return known;
    if (this.#known.size > 1000) this.#known.clear();
    const fresh = await room.store.read(space, async (tx) => ({
      version: await versionOf(tx),
      all: await readAll(tx),
    }));
    this.#known.set(space, fresh);
    return fresh;
  }

  forget(space: SpaceId): void {
    this.#known.delete(space);
  }
}

async function versionOf(tx: Tx): Promise<number> {
  return (await tx.heads.get('subscriptions'))?.n ?? 0;
}

/** Nobody knows who would get the event, so nobody takes it: the sender tries again later (K7). */
async function readAll(tx: Tx): Promise<Subscription[]> {
  try {
    return await tx.subscriptions.all();
  } catch {
    const message = 'The subscriptions of this space cannot be read. Nothing was stored; retry later.';
    throw new Fault('unavailable', message, { retryAfter: 30 });
  }
}

/** Takes a signed event in. The answer leaves after the commit; the same event again changes nothing (K8). */
export async function ingest(
  room: Room,
  subscriptions: Subscriptions,
  arriving: Arriving,
): Promise<Ingested | Fault> {
  const { producer, envelope } = arriving;
  for (;;) {
    const { version, all } = await subscriptions.of(room, producer.space);
    const takers = findTakers(all, toArrival(arriving));
    const agents = isFault(takers) ? [] : takers.map((t) => t.agent);
    const heads: HeadName[] = [
      ...headsToPlace(room, envelope, agents),
      ...headsToReview(envelope, agents),
      'subscriptions',
      `rate:${producer.id}`,
    ];
    const outcome = await room.store.write(producer.space, heads, async (tx) =>
      (await versionOf(tx)) === version ? keep(room, tx, arriving, takers) : ('again' as const),
    );
    if (outcome !== 'again') return outcome;
    subscriptions.forget(producer.space);
  }
}

function toArrival({ envelope, producer, keyId, algorithm, raw }: Arriving) {
  const named = envelope.source.producer_id ?? producer.id;
  return { envelope, producer: named, keyId, algorithm, size: raw.length };
}

async function keep(
  room: Room,
  tx: Tx,
  arriving: Arriving,
  takers: Taker[] | Fault,
): Promise<Ingested | Fault> {
  const { producer, envelope, raw, kept } = arriving;
  const before = await tx.events.get(producer.id, envelope.event_id);
  if (before !== null) {
    if (before.bodyHash === room.vault.sha256(raw)) return { duplicate: true };
    const message = 'Another event with this event_id was accepted before. Ids are never used again.';
    return new Fault('event_conflict', message);
  }
  if (isFault(takers)) return takers;
  const limited = await takeToken(room, tx, arriving);
  if (limited !== null) return limited;
  const event = await place(room, tx, {
    envelope,
    raw,
    kept,
    producer: producer.id,
    fillProducer: envelope.source.producer_id === undefined,
    takers,
    actor: `producer:${producer.id}`,
  });
  const agents = takers.map((taker) => taker.agent);
  await reviewAsDelivery(room, tx, event, envelope, agents);
  return { duplicate: false };
}

async function takeToken(room: Room, tx: Tx, { producer, rate }: Arriving): Promise<Fault | null> {
  if (rate === null) return null;
  const now = room.clock.now();
  const head = await tx.heads.get(`rate:${producer.id}`);
  const taken = take(toBucket(head, rate, now), rate, now);
  if (taken.kind === 'empty') {
    const message = `This producer may send ${rate.perHour} events an hour (burst ${rate.burst}). Wait ${taken.retryAfterSeconds} s.`;
    return new Fault('rate_limited', message, { retryAfter: taken.retryAfterSeconds });
  }
  const { tokens, at } = taken.bucket;
  tx.heads.set(`rate:${producer.id}`, { n: Math.round(tokens * TOKEN_UNIT), at, text: '' });
  return null;
}
