import type { Seeded } from './random.ts';

export const VERDICTS = ['approved', 'rejected', 'redirected'];

/** What a person may put in the place of the content: nothing, a text, or an object with every kind of value. */
export const EDITED = [null, 'Só — “short”', { brief: { n: 1.5, list: [1, null, 'ü'] } }];

/** Does something with one of these deliveries, which is nobody else's meanwhile. One without an id is not there yet. */
export async function withOne<Entry extends { id: string | null; busy: boolean }>(
  random: Seeded,
  entries: readonly Entry[],
  work: (entry: Entry, id: string) => Promise<void>,
): Promise<void> {
  const entry = random.pick(entries);
  if (entry === undefined || entry.id === null) return;
  entry.busy = true;
  try {
    await work(entry, entry.id);
  } finally {
    entry.busy = false;
  }
}
