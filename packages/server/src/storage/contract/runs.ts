import { expect, test } from 'vitest';
import type { EventRecord } from '../../core/events/event.ts';
import type { Tx } from '../../core/store.ts';
import { anEntry, anEventRecord } from '../../testing/stores/event-things.ts';
import type { Fresh } from '../contract.ts';

/** An event by its number in the ledger, and its place in the inbox; null for one that is in somebody else's. */
type Put = { seq: number; place: number | null; again?: true; fillProducer?: boolean };

const MOST = 9;

async function put(tx: Tx, { seq, place, again, fillProducer = false }: Put): Promise<void> {
  const event: EventRecord = anEventRecord({ seq, fillProducer });
  if (!again) await tx.events.insert(event, Buffer.from(`{"n":${seq}}`));
  await tx.entries.insert(
    place === null ? anEntry(event, { agent: 'agent-2' }) : anEntry(event, { offset: place }),
  );
}

/** The page as text, and how many pieces of it were whole. */
async function inPieces(tx: Tx, after: number, limit: number): Promise<{ text: string; whole: number }> {
  const runs = await tx.entries.runs('agent-1', after, limit);
  const texts: string[] = [];
  let next = after + 1;
  for (const { first, last, bytes } of runs) {
    expect(first).toBe(next);
    next = last + 1;
    if (bytes !== null) texts.push(Buffer.from(bytes()).toString());
    else texts.push(await oneByOne(tx, first - 1, last - first + 1));
  }
  return { text: texts.join(','), whole: runs.filter(({ bytes }) => bytes !== null).length };
}

async function oneByOne(tx: Tx, after: number, limit: number): Promise<string> {
  const sent = await tx.entries.read('agent-1', after, limit);
  return sent.map((one) => Buffer.from(one.body()).toString()).join(',');
}

const row = (...numbers: number[]): Put[] => numbers.map((seq) => ({ seq, place: seq }));

/** What was committed together, commit by commit, and how many pieces of the whole inbox are whole. */
const INBOXES: [string, Put[][], number][] = [
  ['one commit', [row(1, 2, 3, 4, 5)], 1],
  ['several commits', [row(1, 2), row(3), row(4, 5, 6)], 3],
  ['lines of something else between two commits', [row(1, 2), [{ seq: 9, place: 3 }]], 2],
  ['lines of something else in one commit', [[...row(1, 2), { seq: 9, place: 3 }], row(4)], 1],
  [
    'an event of somebody else among them',
    [[...row(1, 2), { seq: 3, place: null }, { seq: 4, place: 3 }], [{ seq: 5, place: 4 }]],
    1,
  ],
  [
    'one whose producer is filled in',
    [[...row(1), { seq: 2, place: 2, fillProducer: true }, { seq: 3, place: 3 }], row(4, 5)],
    1,
  ],
  ['one that was put in again at once', [row(1, 2), [{ seq: 1, place: 3, again: true }]], 0],
  [
    'one that was put in again later',
    [row(1, 2), row(3, 4), [{ seq: 2, place: 5, again: true }], [{ seq: 6, place: 6 }]],
    0,
  ],
  [
    'two that were put in again in another order',
    [
      [
        { seq: 1, place: null },
        { seq: 2, place: null },
      ],
      [
        { seq: 2, place: 1, again: true },
        { seq: 1, place: 2, again: true },
      ],
    ],
    0,
  ],
];

export function describeRuns(fresh: Fresh): void {
  test.each(INBOXES)('[K11] a page in pieces is the page one by one: %s', async (_, commits, whole) => {
    const { store } = await fresh();
    for (const commit of commits)
      await store.write('sp_1', [], async (tx) => {
        for (const one of commit) await put(tx, one);
      });
    await store.read('sp_1', async (tx) => {
      for (let after = 0; after < MOST; after++)
        for (let limit = 1; limit <= MOST; limit++)
          expect((await inPieces(tx, after, limit)).text).toBe(await oneByOne(tx, after, limit));
      expect((await inPieces(tx, 0, MOST)).whole).toBe(whole);
    });
  });

  test('[K17] what is left of a commit of which something has left is still in order', async () => {
    const { store } = await fresh();
    await store.write('sp_1', [], async (tx) => {
      for (const one of row(1, 2, 3, 4)) await put(tx, one);
    });
    await store.write('sp_1', [], async (tx) => {
      await tx.entries.removeUpTo('agent-1', 2);
      await tx.events.removeUnheld([1, 2]);
    });
    const { text, whole } = await store.read('sp_1', (tx) => inPieces(tx, 2, MOST));
    expect([text, whole]).toEqual(['{"n":3},{"n":4}', 1]);
    expect(await store.read('sp_2', (tx) => tx.entries.runs('agent-1', 0, MOST))).toEqual([]);
  });
}
