import type { Tx } from '../../store.ts';
import type { Delivery } from '../delivery.ts';

/** An agent may give every delivery of its life the same thread. */
const COUNTED = 1000;
const NEAR = 3;

export type ThreadPlace = {
  /** How many of the thread came earlier, and later; each stops at 1000. */
  before: number;
  after: number;
  /** The nearest of each side, in the order in which they came. */
  earlier: Delivery[];
  later: Delivery[];
};

/** Where a delivery stands among those that its agent has given the same `thread_id` (D88). */
export async function placeInThread(tx: Tx, { agent, threadId, seq }: Delivery): Promise<ThreadPlace | null> {
  if (threadId === null) return null;
  const side = (side: 'before' | 'after', limit: number) => ({ agent, thread: threadId, seq, side, limit });
  const [before, after, earlier, later] = await Promise.all([
    tx.deliveries.countOfThread(side('before', COUNTED)),
    tx.deliveries.countOfThread(side('after', COUNTED)),
    tx.deliveries.ofThread(side('before', NEAR)),
    tx.deliveries.ofThread(side('after', NEAR)),
  ]);
  return { before, after, earlier: earlier.reverse(), later };
}
