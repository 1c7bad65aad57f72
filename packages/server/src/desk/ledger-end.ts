import type { Tx } from '../core/store.ts';

/** The last line of the ledger. Whatever is read after this contains everything up to there. */
export async function endOfLedger(tx: Tx): Promise<number> {
  const [last] = await tx.ledger.newest(Number.MAX_SAFE_INTEGER, 1);
  return last?.seq ?? 0;
}
