import { expect, test } from 'vitest';
import { Fault } from '../../core/faults.ts';
import type { Tx } from '../../core/store.ts';
import { aLine } from '../../testing/stores/things.ts';
import type { Fresh, OpenStore } from '../contract.ts';

const SPACE = 'sp_1';

/** Writes one line, which is the smallest thing that can be seen afterwards. */
const writeLine =
  (seq: number) =>
  async (tx: Tx): Promise<number> => {
    await tx.ledger.insert(aLine({ seq }));
    return seq;
  };

const seqs = ({ store }: OpenStore): Promise<number[]> =>
  store.read(SPACE, async (tx) => (await tx.ledger.page(0, 1000)).map((line) => line.seq));

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (reason: unknown) => reason,
  );
}

export function describeCommits(fresh: Fresh): void {
  test('[D26] units that arrive together share one commit, and each gets its own result', async () => {
    const opened = await fresh();
    const before = await opened.commits();
    const units = Array.from({ length: 50 }, (_, i) => opened.store.write(SPACE, [], writeLine(i + 1)));
    expect(await Promise.all(units)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect((await opened.commits()) - before).toBe(1);
    expect(await seqs(opened)).toHaveLength(50);
  });

  test('[D26] units that arrive while a commit runs go into the next one', async () => {
    const opened = await fresh();
    const before = await opened.commits();
    let late: Promise<number[]> = Promise.resolve([]);
    await opened.store.write(SPACE, [], async (tx) => {
      late = Promise.all([2, 3].map((seq) => opened.store.write(SPACE, [], writeLine(seq))));
      return writeLine(1)(tx);
    });
    await late;
    expect((await opened.commits()) - before).toBe(2);
    expect(await seqs(opened)).toEqual([1, 2, 3]);
  });

  test('[D26] more units than fit into one commit are all stored, in order', async () => {
    const opened = await fresh();
    const order: number[] = [];
    const units = Array.from({ length: 600 }, (_, i) =>
      opened.store.write(SPACE, [], writeLine(i + 1)).then((seq) => order.push(seq)),
    );
    await Promise.all(units);
    expect(order).toEqual(Array.from({ length: 600 }, (_, i) => i + 1));
    expect(await opened.store.read(SPACE, (tx) => tx.ledger.newest(601, 1))).toMatchObject([{ seq: 600 }]);
  });

  test('[D26] a unit that throws is rejected with its reason and harms no other in its batch', async () => {
    const opened = await fresh();
    const bad = opened.store.write(SPACE, [], async (tx) => {
      await writeLine(2)(tx);
      throw new Error('a bug');
    });
    const [first, reason, third] = await Promise.all([
      opened.store.write(SPACE, [], writeLine(1)),
      reasonOf(bad),
      opened.store.write(SPACE, [], writeLine(3)),
    ]);
    expect([first, third]).toEqual([1, 3]);
    expect(reason).toMatchObject({ message: 'a bug' });
    expect(await seqs(opened)).toEqual([1, 3]);
  });

  test('[D26] the same when the database refuses a row', async () => {
    const opened = await fresh();
    await opened.store.write(SPACE, [], writeLine(1));
    const outcomes = await Promise.all([
      reasonOf(opened.store.write(SPACE, [], writeLine(1))),
      reasonOf(opened.store.write(SPACE, [], writeLine(2))),
    ]);
    expect(outcomes).toEqual([expect.any(Error), null]);
    expect(await seqs(opened)).toEqual([1, 2]);
  });

  test('[D26] a refusal that has written nothing is handed back as a value', async () => {
    const opened = await fresh();
    const outcome = await opened.store.write(SPACE, [], async () => new Fault('not_found', 'Not here.'));
    expect(outcome).toMatchObject({ fault: 'not_found' });
  });

  test('[D26] a refusal that has written is rolled back and rejected, and harms no other', async () => {
    const opened = await fresh();
    const refused = opened.store.write(SPACE, [], async (tx) => {
      await writeLine(1)(tx);
      return new Fault('not_found', 'Not here.');
    });
    const [reason] = await Promise.all([reasonOf(refused), opened.store.write(SPACE, [], writeLine(2))]);
    expect(String(reason)).toContain('had already written');
    expect(await seqs(opened)).toEqual([2]);
  });

  test('[D26] a refusal that has moved a head counts as one that has written', async () => {
    const opened = await fresh();
    const refused = opened.store.write(SPACE, ['ledger'], async (tx) => {
      await tx.heads.get('ledger');
      tx.heads.set('ledger', { n: 7, at: 7, text: '' });
      return new Fault('not_found', 'Not here.');
    });
    expect(String(await reasonOf(refused))).toContain('had already written');
    expect(await opened.store.read(SPACE, (tx) => tx.heads.get('ledger'))).toBeNull();
  });

  test('[D26] after a failed batch nobody reads two different moments', async () => {
    const opened = await fresh();
    const look = () =>
      opened.store.read(SPACE, async (tx) => {
        const first = await tx.ledger.page(0, 100);
        for (let i = 0; i < 50; i++) await tx.ledger.page(0, 1);
        return [first.length, (await tx.ledger.page(0, 100)).length];
      });
    const units = [1, 2, 3, 4].map((seq) => opened.store.write(SPACE, [], writeLine(seq)).then(look));
    const bad = opened.store.write(SPACE, [], async () => {
      throw new Error('a bug');
    });
    await reasonOf(bad);
    for (const [first, second] of await Promise.all(units)) expect(second).toBe(first);
  });

  test('[D17] what changed is told after the commit, once for each topic, with everything it was about', async () => {
    const opened = await fresh();
    const told: { about: string[]; lines: Promise<number[]> }[] = [];
    opened.store.signals.on(`desk:${SPACE}`, (about) =>
      told.push({ about: [...about], lines: seqs(opened) }),
    );
    const units = [1, 2].map((seq) =>
      opened.store.write(SPACE, [], async (tx) => {
        tx.announce(`desk:${SPACE}`, `thing-${seq}`);
        return writeLine(seq)(tx);
      }),
    );
    await Promise.all(units);
    expect(told.map((t) => t.about)).toEqual([['thing-1', 'thing-2']]);
    expect(await told[0]?.lines).toEqual([1, 2]);
  });

  test('[D17] nobody is told of what was rolled back', async () => {
    const opened = await fresh();
    const told: string[][] = [];
    opened.store.signals.on(`desk:${SPACE}`, (about) => told.push([...about]));
    const bad = opened.store.write(SPACE, [], async (tx) => {
      tx.announce(`desk:${SPACE}`, 'never');
      throw new Error('a bug');
    });
    const good = opened.store.write(SPACE, [], async (tx) => tx.announce(`desk:${SPACE}`, 'yes'));
    await Promise.all([reasonOf(bad), good]);
    expect(told).toEqual([['yes']]);
  });

  test('[D26] a listener that throws changes nothing for the writers', async () => {
    const opened = await fresh();
    const told: string[] = [];
    opened.store.signals.on('jobs', () => {
      throw new Error('a bad listener');
    });
    opened.store.signals.on('jobs', () => told.push('jobs'));
    const announcing = (seq: number) =>
      opened.store.write(SPACE, [], async (tx) => {
        tx.announce('jobs');
        return writeLine(seq)(tx);
      });
    expect(await Promise.all([announcing(1), announcing(2)])).toEqual([1, 2]);
    expect(await announcing(3)).toBe(3);
    expect(await seqs(opened)).toEqual([1, 2, 3]);
    expect(told).toEqual(['jobs', 'jobs']);
  });

  test('[D17] a listener that left hears nothing more', async () => {
    const opened = await fresh();
    const told: string[] = [];
    const off = opened.store.signals.on('jobs', () => told.push('jobs'));
    await opened.store.write(SPACE, [], async (tx) => tx.announce('jobs'));
    off();
    await opened.store.write(SPACE, [], async (tx) => tx.announce('jobs'));
    expect(told).toEqual(['jobs']);
  });

  test('[D26] a read changes and announces nothing', async () => {
    const opened = await fresh();
    const reads: ((tx: Tx) => Promise<unknown>)[] = [
      async (tx) => tx.announce('jobs'),
      async (tx) => tx.heads.set('ledger', { n: 1, at: 1, text: '' }),
      writeLine(1),
    ];
    for (const work of reads) expect(await reasonOf(opened.store.read(SPACE, work))).toBeInstanceOf(Error);
    expect(await seqs(opened)).toEqual([]);
  });

  test('[D30] a store that stops finishes what it has and takes nothing more', async () => {
    const opened = await fresh();
    const accepted = opened.store.write(SPACE, [], writeLine(1));
    const stopped = opened.stop();
    const late = reasonOf(opened.store.write(SPACE, [], writeLine(2)));
    expect(await accepted).toBe(1);
    expect(await late).toMatchObject({ fault: 'unavailable', detail: { retryAfter: 2 } });
    await stopped;
  });
}
