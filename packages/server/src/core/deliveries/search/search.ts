import type { SpaceId } from '../../ids.ts';
import { placeAt } from '../../ledger/place.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import type { Delivery } from '../delivery.ts';
import type { FindQuery } from '../store.ts';
import { wordsOf } from './words.ts';

const MOST_WORDS_ASKED = 16;
// High enough to tell a rare word from a common one.
const COUNTED = 1000;

export type Wanted = Pick<FindQuery, 'section' | 'agent' | 'type' | 'limit'> & {
  words: readonly string[];
  /** Created from, and before. */
  from: Micros | null;
  to: Micros | null;
  /** Only deliveries before this place in the ledger. */
  before: number | null;
};

/** The words that a question asks for, without repetition. */
export function askedWords(question: string): string[] {
  return [...new Set(wordsOf(question, 'asked'))].slice(0, MOST_WORDS_ASKED);
}

/** At most this many rows are examined for one page, however few of them match (D83). */
export const MOST_WALKED = 2000;

/** `next` is the place that the next page goes back from; null when everything was seen. */
export type Found = { deliveries: Delivery[]; next: number | null };

export async function search(room: Room, tx: Tx, wanted: Wanted): Promise<Found> {
  const { words, from, to, before, limit, ...filter } = wanted;
  const span = await placesBetween(tx, from, to);
  const keys = words.map((word) => room.vault.wordKey(tx.space as SpaceId, word));
  const rarest = await rarestFirst(tx, keys);
  const range = { from: span.from, before: Math.min(span.before, before ?? span.before) };
  // Without any filter, every row of the walk belongs on the page.
  const isPicky = rarest.length > 1 || Object.values(filter).some((value) => value !== undefined);
  const end = isPicky ? await tx.search.walkEnd(rarest[0] ?? null, range, MOST_WALKED) : null;
  const walked = { ...range, from: end === null ? range.from : end + 1 };
  const found = await tx.search.find({ ...filter, words: rarest, ...walked, limit: limit + 1 });
  const deliveries = found.slice(0, limit);
  if (found.length > limit) return { deliveries, next: deliveries.at(-1)?.seq ?? null };
  return { deliveries, next: end === null ? null : end + 1 };
}

/** A span of time as a range of places in the ledger; open ends stay open. */
export async function placesBetween(
  tx: Tx,
  from: Micros | null,
  to: Micros | null,
): Promise<{ from: number; before: number }> {
  return {
    from: from === null ? 0 : await placeAt(tx, from),
    before: to === null ? Number.MAX_SAFE_INTEGER : await placeAt(tx, to),
  };
}

/** The store walks the deliveries with the first word and checks the others: a rare first word makes a short walk. */
async function rarestFirst(tx: Tx, keys: readonly string[]): Promise<string[]> {
  const counted: { key: string; n: number }[] = [];
  for (const key of keys) counted.push({ key, n: await tx.search.count(key, COUNTED) });
  return counted.sort((a, b) => a.n - b.n).map(({ key }) => key);
}
