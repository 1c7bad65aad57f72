import type { Detail, Row } from '../api/types.ts';
import { isObject } from '../detail/shape.ts';
import { asksForAnswer, stateWords } from '../words/delivery.ts';

export type Included = { row: Row; hash: string };
export type LeftOut = { row: Row; reason: string };
/** A delivery that was checked; if it was deleted in the meantime, only its row. */
export type LookedAt = Detail | { gone: Row };

/**
 * Which deliveries were looked at in this browser, and with which content: only what was seen can be decided
 * together.
 */
const KEY = 'lanternroom.seen';
const MOST = 600;

export const seen = {
  read: (): Record<string, string> => {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, string>;
    } catch {
      return {};
    }
  },
  mark: (id: string, hash: string) => {
    const all = Object.entries({ ...seen.read(), [id]: hash }).slice(-MOST);
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(all)));
  },
};

/** Whether the agent says that this cannot be undone. */
export function isIrreversible(detail: Pick<Detail, 'content' | 'details'>): boolean {
  const places = [detail.content, detail.details].filter(isObject);
  return places.some((place) => place.reversible === false || place.irreversible === true);
}

/** Sorts what was checked into what will be decided and what will not, each with its reason. */
export function sortBulk(
  looked: readonly LookedAt[],
  seenHashes: Readonly<Record<string, string>>,
): { included: Included[]; leftOut: LeftOut[] } {
  const included: Included[] = [];
  const leftOut: LeftOut[] = [];
  for (const detail of looked) {
    if ('gone' in detail) {
      leftOut.push({ row: detail.gone, reason: 'no longer here' });
      continue;
    }
    const reason = reasonAgainst(detail, seenHashes[detail.delivery_id]);
    if (reason === null) included.push({ row: detail, hash: detail.content_sha256 });
    else leftOut.push({ row: detail, reason });
  }
  return { included, leftOut };
}

function reasonAgainst(detail: Detail, seenHash: string | undefined): string | null {
  if (detail.state === 'withdrawn' || detail.state === 'superseded') return stateWords(detail, 0).join();
  if (detail.state !== 'pending') return 'already answered';
  if (!asksForAnswer(detail.type)) return 'asks for no answer';
  if (isIrreversible(detail)) return 'cannot be undone: decide it by itself';
  if (seenHash === undefined) return 'not opened yet';
  return seenHash === detail.content_sha256 ? null : 'changed since you opened it';
}
