import { counted } from '../counted.ts';
import { Fault, isFault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import { ShortMemory } from '../maps.ts';
import { fromBucket, type Rate, take, toBucket } from '../rate.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { type Envelope, type Outline, outlineOf } from './event.ts';
import { headsToPlace, place } from './place.ts';
import type { Algorithm, Producer } from './producer.ts';
import { headsToReview, reviewAsDelivery } from './review.ts';
import { Candidates } from './subscriptions/candidates.ts';
import type { Arrival, Subscription } from './subscriptions/subscription.ts';
import { findTakers, KnownTakers, type Taker } from './subscriptions/takers.ts';

export type Arriving = {
  producer: Producer;
  /** As given in the header. */
  keyId: string | null;
  algorithm: Algorithm;
  envelope: Envelope;
  /** The bytes that arrived, and the bytes that are stored. */
  raw: Uint8Array;
  kept: Uint8Array;
  rate: Rate | null;
};

export type Ingested = { duplicate: boolean };

/** An event that was read, hashed and matched. Plain values only, so that it can travel to another thread. */
export type ReadEvent = {
  outline: Outline;
  producer: Producer;
  rate: Rate | null;
  /** Who gets it, according to this version of the subscriptions. */
  takers: readonly Taker[];
  version: number;
  bodyHash: string;
  kept: Uint8Array;
};

/** `outdated`: subscriptions have changed since the takers were found, and they must be found again. */
export type Kept = Ingested | 'outdated';

type Known = { version: number; candidates: Candidates; takers: KnownTakers };

/**
 * Remembers the parsed subscriptions of a space. They may be out of date, so the transaction that relies on them
 * compares their version, and asks for the new ones when subscriptions have changed.
 */
export class Subscriptions {
  readonly #known = new ShortMemory<SpaceId, Known>(1_000);

  /** Synchronous where they are known: under load an event comes every few microseconds. */
  of(room: Room, space: SpaceId): Known | Promise<Known> {
    return this.#known.get(space) ?? this.#look(room, space);
  }

  async #look(room: Room, space: SpaceId): Promise<Known> {
    const fresh = await room.store.read(space, async (tx) => ({
      version: await versionOf(tx),
      candidates: new Candidates(await readAll(tx)),
      takers: new KnownTakers(),
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

/** If they cannot be read, nobody knows who would get the event: it is refused, and the sender tries later (K7). */
async function readAll(tx: Tx): Promise<Subscription[]> {
  try {
    return await tx.subscriptions.all();
  } catch {
    const message = 'The subscriptions of this space cannot be read. Nothing was stored; retry later.';
    throw new Fault('unavailable', message, { retryAfter: 30 });
  }
}

/** What is known of an event once its envelope was let go. */
type Read = Omit<ReadEvent, 'takers' | 'version'> & Pick<Arriving, 'keyId' | 'algorithm'> & { size: number };
type Matched = { takers: readonly Taker[] | Fault; version: number };

/**
 * Takes a signed event in. The answer leaves after the commit; the same event again changes nothing (K8). The parsed
 * envelope is not kept meanwhile: keeping those of all events under way costs the garbage collector more than parsing
 * one again in the rare case that it is needed.
 */
export function ingest(
  room: Room,
  subscriptions: Subscriptions,
  arriving: Arriving,
): Promise<Ingested | Fault> {
  const { producer, keyId, algorithm, envelope, raw, kept, rate } = arriving;
  const bodyHash = room.vault.sha256(raw);
  const outline = outlineOf(envelope);
  const read: Read = { producer, keyId, algorithm, outline, rate, bodyHash, kept, size: raw.length };
  return takeIn(room, subscriptions, read, matchWith(room, subscriptions, read, envelope));
}

async function takeIn(
  room: Room,
  subscriptions: Subscriptions,
  read: Read,
  first: Matched | Promise<Matched>,
): Promise<Ingested | Fault> {
  let matched = first instanceof Promise ? await first : first;
  for (;;) {
    const outcome = await keepMatched(room, read, matched);
    if (outcome !== 'outdated') return outcome;
    subscriptions.forget(read.producer.space);
    matched = await matchWith(room, subscriptions, read, envelopeIn(read.kept));
  }
}

function matchWith(
  room: Room,
  subscriptions: Subscriptions,
  read: Read,
  envelope: Envelope,
): Matched | Promise<Matched> {
  const arrival = toArrival(read, envelope);
  const match = ({ version, candidates, takers }: Known): Matched => ({
    takers: findTakers(candidates.of(arrival), arrival, takers),
    version,
  });
  const known = subscriptions.of(room, read.producer.space);
  return known instanceof Promise ? known.then(match) : match(known);
}

function toArrival({ producer, keyId, algorithm, size }: Read, envelope: Envelope): Arrival {
  return { envelope, producer: envelope.source.producer_id ?? producer.id, keyId, algorithm, size };
}

function keepMatched(room: Room, read: Read, { takers, version }: Matched): Promise<Kept | Fault> {
  const { outline, producer, rate, bodyHash, kept } = read;
  if (isFault(takers)) return refuseUnlessKnown(room, read, version, takers);
  const event: ReadEvent = { outline, producer, rate, takers, version, bodyHash, kept };
  return room.intake?.take('event', event) ?? keepEvent(room, event);
}

function envelopeIn(kept: Uint8Array): Envelope {
  return JSON.parse(decoder.decode(kept)) as Envelope;
}

/** Nobody takes it now, but it may be a repetition of one that was taken earlier (K8). */
function refuseUnlessKnown(room: Room, read: Read, version: number, refusal: Fault): Promise<Kept | Fault> {
  return room.store.write(read.producer.space, ['subscriptions'], async (tx) =>
    (await versionOf(tx)) === version ? ((await repeated(tx, read)) ?? refusal) : 'outdated',
  );
}

/** In one transaction: the check for a duplicate, the rate limit, the event, its entries, their resumes and jobs, the ledger line. */
export function keepEvent(room: Room, event: ReadEvent): Promise<Kept | Fault> {
  const { outline, producer, takers, version } = event;
  const agents = takers.map((taker) => taker.agent);
  const heads: HeadName[] = [
    ...headsToPlace(room, outline, agents),
    ...headsToReview(outline, agents),
    'subscriptions',
    `rate:${producer.id}`,
  ];
  return room.store.write(producer.space, heads, async (tx) =>
    (await versionOf(tx)) === version ? keep(room, tx, event, agents) : 'outdated',
  );
}

async function keep(
  room: Room,
  tx: Tx,
  event: ReadEvent,
  agents: readonly AgentId[],
): Promise<Ingested | Fault> {
  const before = await repeated(tx, event);
  if (before !== null) return before;
  const limited = await takeToken(room, tx, event);
  if (limited !== null) return limited;
  const { outline, producer, bodyHash, kept, takers } = event;
  const envelope = () => envelopeIn(kept);
  const actor = `producer:${producer.id}`;
  const placing = { outline, envelope, bodyHash, kept, producer: producer.id, takers, actor };
  const placed = await place(room, tx, placing);
  await reviewAsDelivery(room, tx, { event: placed, envelope, agents, tier: producer.tier });
  return { duplicate: false };
}

const decoder = new TextDecoder();

type Repeatable = Pick<ReadEvent, 'producer' | 'outline' | 'bodyHash'>;

async function repeated(
  tx: Tx,
  { producer, outline, bodyHash }: Repeatable,
): Promise<Ingested | Fault | null> {
  const before = await tx.events.get(producer.id, outline.eventId);
  if (before === null) return null;
  if (before.bodyHash === bodyHash) return { duplicate: true };
  const message = 'A different event with this event_id was accepted before. Use a new id for every event.';
  return new Fault('event_conflict', message);
}

async function takeToken(room: Room, tx: Tx, { producer, rate }: ReadEvent): Promise<Fault | null> {
  if (rate === null) return null;
  const now = room.clock.now();
  const head = await tx.heads.get(`rate:${producer.id}`);
  const taken = take(toBucket(head, rate, now), rate, now);
  if (taken.kind === 'empty') {
    const message = `This producer may send ${counted(rate.perHour, 'event')} an hour (burst ${rate.burst}). Wait ${taken.retryAfterSeconds} s.`;
    return new Fault('rate_limited', message, { retryAfter: taken.retryAfterSeconds });
  }
  tx.heads.set(`rate:${producer.id}`, fromBucket(taken.bucket));
  return null;
}
