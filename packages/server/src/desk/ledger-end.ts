import type { Tx } from '../core/store.ts';

/** The last line. What is read after it holds everything up to there. */
export async function endOfLedger(tx: Tx): Promise<number> {
  const [last] = await tx.ledger.newest(Number.MAX_SAFE_INTEGER, 1);
  return last?.seq ?? 0;
}
