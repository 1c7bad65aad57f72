import { look, type Rate, type RateView, toBucket } from '../rate.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { KeyRecord } from './key.ts';

/** Where a key's bucket is kept (W5). */
export const budgetHead = ({ id }: Pick<KeyRecord, 'id'>): HeadName => `rate:${id}`;

/** What a key may deliver in an hour and at once, and how much of that is left at this moment. */
export async function budgetOf(
  room: Room,
  tx: Tx,
  key: KeyRecord,
): Promise<Rate & Pick<RateView, 'remaining'>> {
  const rate = room.settings.rates[key.tier];
  const now = room.clock.now();
  return {
    ...rate,
    remaining: look(toBucket(await tx.heads.get(budgetHead(key)), rate, now), rate, now).remaining,
  };
}
