import type { Tx } from '../store.ts';
import type { Micros } from '../time.ts';

/**
 * The first line written at or after a moment. Deliveries and decisions carry the place of their line, so this turns
 * a span of time into a range of the primary key and spares every delivery an index by time. If the clock was set
 * back, the edges of the range are off by as much.
 */
export async function placeAt(tx: Tx, at: Micros): Promise<number> {
  let low = 1;
  let high = ((await tx.heads.get('ledger'))?.n ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const written = await tx.ledger.at(middle);
    if (written === null || written < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
