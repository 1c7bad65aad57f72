import { isPassing } from '../patience.ts';
import type { InboxCall, InboxParts } from './parts.ts';

const MOST_TRIES = 4;

/** Makes something that must not exist twice: if the reply got lost, `find` tells whether it was made. */
export async function makeOnce<T>(
  { clock }: Pick<InboxParts, 'clock'>,
  { signal }: InboxCall,
  { make, find }: { make: () => Promise<T>; find: () => Promise<T | undefined> },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await make();
    } catch (error) {
      if (!isPassing(error) || tries === MOST_TRIES) throw error;
      const found = await find();
      if (found !== undefined) return found;
      await clock.sleep(1_000 * tries, signal);
    }
  }
}
