import type { ThreadPlace } from '../api/types.ts';
import { inWords } from './numbers.ts';

/** Where counting stops. */
const MOST = 1000;

/** "2nd of 5 in thread", and what can still be said where counting has stopped. */
export function threadWords({ before, after }: Pick<ThreadPlace, 'before' | 'after'>): string {
  if (before >= MOST) return `one of ${inWords(MOST)} in thread`;
  if (after >= MOST) return `${ordinal(before + 1)} of ${inWords(MOST)} in thread`;
  if (before + after === 0) return 'the only one so far in thread';
  return `${ordinal(before + 1)} of ${before + 1 + after} in thread`;
}

/** 1st, 2nd, 3rd, 11th, 22nd */
function ordinal(place: number): string {
  const isTeen = Math.floor(place / 10) % 10 === 1;
  const ending = isTeen ? undefined : ['th', 'st', 'nd', 'rd'][place % 10];
  return `${place}${ending ?? 'th'}`;
}
