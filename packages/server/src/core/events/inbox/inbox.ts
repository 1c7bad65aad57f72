import { Fault, isFault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Entry, Envelope } from '../event.ts';
import type { Page } from '../store.ts';
import { expired, type Reader } from './cursor.ts';
import { envelopeBytes, envelopeText } from './outgoing.ts';

/** Envelopes from one offset to another, with a comma between two. */
export type Piece = { first: number; offset: number; bytes: Uint8Array };
/** One envelope. */
export type Item = Piece & { acknowledged: boolean };
export type Read<T extends Piece = Item> = { items: T[]; hasMore: boolean; after: number };

/** A body may have a megabyte: a page ends early rather than holding a thousand of those. */
export type PageSize = { limit: number; bytes?: number };
const PAGE_BYTES = 8 * 1024 * 1024;
const AT_ONCE = 100;

/**
 * The page after an offset, or from the oldest entry without one. Offsets are dense, so a page that does not start
 * right after its cursor has lost something to retention: that is said, with the oldest place still good (K17).
 */
export function readInbox(
  room: Room,
  reader: Reader,
  after: number | null,
  size: PageSize,
): Promise<Read | Fault> {
  return readAfter(room, reader, after, (tx) => readPage(tx, reader, after ?? 0, size));
}

/** The same for a caller that only passes the bytes on: neighbouring envelopes come in one piece. */
export function readPieces(
  room: Room,
  reader: Reader,
  after: number | null,
  limit: number,
): Promise<Read<Piece> | Fault> {
  return readAfter(room, reader, after, (tx) => readRuns(tx, reader, after ?? 0, limit));
}

function readAfter<T extends Piece>(
  room: Room,
  reader: Reader,
  after: number | null,
  look: (tx: Tx) => Promise<Found<T>>,
): Promise<Read<T> | Fault> {
  return room.store.read(reader.space, async (tx) => {
    const page = await look(tx);
    if (page.items.length > 0) return orExpired(room, reader, { after, found: page, last: 0 });
    const last = await lastOffset(tx, reader);
    if (after !== null && after > last) return expired(room, 'events', reader, last); // an older store was restored
    if ((after ?? 0) === last) return { items: [], hasMore: false, after: last };
    // Something arrived between the two looks, or everything was removed: now that the end is known, one more look
    // decides.
    return orExpired(room, reader, { after, found: await look(tx), last });
  });
}

/** The newest entries, oldest of them first: for a glance, not for a reader that must not miss anything. */
export function readLast(room: Room, reader: Reader, count: number): Promise<Read> {
  return room.store.read(reader.space, async (tx) => {
    const last = await lastOffset(tx, reader);
    const { items } = await readPage(tx, reader, Math.max(0, last - count), { limit: count });
    return { items, hasMore: false, after: items.at(-1)?.offset ?? last };
  });
}

type Found<T> = { items: T[]; hasMore: boolean };

function orExpired<T extends Piece>(
  room: Room,
  reader: Reader,
  { after, found, last }: { after: number | null; found: Found<T>; last: number },
): Read<T> | Fault {
  const { items, hasMore } = upToGap(found);
  const next = items[0]?.first ?? last + 1;
  if (after !== null && after < next - 1) return expired(room, 'events', reader, next - 1);
  return { items, hasMore, after: items.at(-1)?.offset ?? next - 1 };
}

/**
 * A page is read in steps. If entries were removed between two steps, or did not fit, the page ends there and the
 * next one reports it.
 */
function upToGap<T extends Piece>(found: Found<T>): Found<T> {
  const { items } = found;
  const gap = items.findIndex(({ first }, i) => i > 0 && first - 1 !== items[i - 1]?.offset);
  return gap < 0 ? found : { items: items.slice(0, gap), hasMore: true };
}

async function readPage(
  tx: Tx,
  { agent }: Reader,
  after: number,
  { limit, bytes: most = PAGE_BYTES }: PageSize,
): Promise<Found<Item>> {
  const items: Item[] = [];
  let bytes = 0;
  let next = after;
  while (items.length < limit) {
    const wanted = Math.min(AT_ONCE, limit - items.length);
    const rows = await tx.entries.read(agent, next, wanted + 1);
    for (const row of rows.slice(0, wanted)) {
      if (items.length > 0 && bytes + row.size > most) return { items, hasMore: true };
      bytes += row.size;
      const { offset, acknowledged } = row;
      items.push({ first: offset, offset, bytes: envelopeBytes(row), acknowledged });
      next = offset;
    }
    if (rows.length <= wanted) return { items, hasMore: false };
  }
  return { items, hasMore: true };
}

async function readRuns(tx: Tx, reader: Reader, after: number, limit: number): Promise<Found<Piece>> {
  const runs = await tx.entries.runs(reader.agent, after, limit);
  if (runs.reduce((sum, { size }) => sum + size, 0) > PAGE_BYTES)
    return readPage(tx, reader, after, { limit });
  const items: Piece[] = [];
  for (const { first, last, bytes } of runs) {
    if (bytes !== null) items.push({ first, offset: last, bytes: bytes() });
    else items.push(...(await readPage(tx, reader, first - 1, { limit: last - first + 1 })).items);
  }
  const last = items.at(-1)?.offset ?? after;
  return { items, hasMore: last < (await lastOffset(tx, reader)) };
}

export async function lastOffset(tx: Tx, { agent }: Reader): Promise<number> {
  return (await tx.heads.get(`inbox:${agent}`))?.n ?? 0;
}

const NO_EVENT = 'There is no event with this id in your inbox.';
const MOST_ALIKE = 1000;

/** All entries of one event in one inbox: several when a person has put it in again. Newest last. */
export async function entriesOf(
  tx: Tx,
  { agent }: Reader,
  eventId: string,
  producer: string | null,
): Promise<Page | Fault> {
  const alike = await tx.entries.byEventId(agent, eventId, MOST_ALIKE);
  const found = producer === null ? alike : sentBy(alike, producer);
  const [first] = found;
  if (first === undefined) return new Fault('not_found', NO_EVENT);
  if (found.some((p) => p.entry.producer !== first.entry.producer)) {
    const message = 'Two producers used this event_id. Add ?producer_id= to say which.';
    return new Fault('event_conflict', message, { field: 'producer_id' });
  }
  return found.sort((a, b) => a.entry.offset - b.entry.offset);
}

/**
 * Matches the signer, or the producer that the event names: the development producer signs for others (K30), and
 * readers see those names.
 */
function sentBy(alike: Page, producer: string): Page {
  const signed = alike.filter(({ entry }) => entry.producer === producer);
  return signed.length > 0 ? signed : alike.filter(({ event }) => namedIn(event) === producer);
}

function namedIn(event: Page[number]['event']): string | undefined {
  return (JSON.parse(envelopeText(event)) as Envelope).source.producer_id;
}

export type Shown = { entry: Entry; text: string };

/** One event, as its newest entry has it (K14). */
export function readEvent(
  room: Room,
  reader: Reader,
  eventId: string,
  producer: string | null,
): Promise<Shown | Fault> {
  return room.store.read(reader.space, async (tx) => {
    const found = await entriesOf(tx, reader, eventId, producer);
    if (isFault(found)) return found;
    const newest = found.at(-1);
    if (newest === undefined) return new Fault('not_found', NO_EVENT);
    return { entry: newest.entry, text: envelopeText(newest.event) };
  });
}
