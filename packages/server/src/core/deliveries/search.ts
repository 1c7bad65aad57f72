import type { SpaceId } from '../ids.ts';
import { placeAt } from '../ledger/ledger-place.ts';
import type { Room } from '../room.ts';
import type { FindQuery, Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import type { Delivery } from './delivery.ts';
import { wordsOf } from './words.ts';

export const MOST_WORDS_ASKED = 16;
// Enough to tell a rare word from a common one.
const COUNTED = 1000;

export type Wanted = Pick<FindQuery, 'section' | 'agent' | 'type' | 'limit'> & {
  words: readonly string[];
  /** Created from, and before. */
  from: Micros | null;
  to: Micros | null;
  /** Further back than this place. */
  before: number | null;
};

/** The words that a question asks for, without repetition. */
export function askedWords(question: string): string[] {
  return [...new Set(wordsOf(question, 'asked'))].slice(0, MOST_WORDS_ASKED);
}

export async function search(room: Room, tx: Tx, wanted: Wanted): Promise<Delivery[]> {
  const { words, from, to, before, ...rest } = wanted;
  const range = await placesBetween(tx, from, to);
  return tx.search.find({
    ...rest,
    words: await rarestFirst(
      tx,
      words.map((word) => room.vault.wordKey(tx.space as SpaceId, word)),
    ),
    from: range.from,
    before: Math.min(range.before, before ?? range.before),
  });
}

/** A span of time as places in the ledger; open ends stay open. */
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

/** The store walks the first word and looks the others up: a rare one makes a short walk. */
async function rarestFirst(tx: Tx, keys: readonly string[]): Promise<string[]> {
  const counted: { key: string; n: number }[] = [];
  for (const key of keys) counted.push({ key, n: await tx.search.count(key, COUNTED) });
  return counted.sort((a, b) => a.n - b.n).map(({ key }) => key);
}
