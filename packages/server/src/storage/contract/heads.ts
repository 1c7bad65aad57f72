import { expect, test } from 'vitest';
import { type HeadName, SERVER, type Tx } from '../../core/store.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';

/** Counts a head up by one, as every rule that uses one does. */
const countUp =
  (name: HeadName) =>
  async (tx: Tx): Promise<number> => {
    const n = ((await tx.heads.get(name))?.n ?? 0) + 1;
    tx.heads.set(name, { n, at: n * 10, text: `at ${n}` });
    return n;
  };

export function describeHeads(fresh: Fresh): void {
  test('[D26] a head is null before it is first written, and then what was written', async () => {
    const { store } = await fresh();
    expect(await store.read(SPACE, (tx) => tx.heads.get('ledger'))).toBeNull();
    await store.write(SPACE, ['ledger'], countUp('ledger'));
    expect(await store.read(SPACE, (tx) => tx.heads.get('ledger'))).toEqual({ n: 1, at: 10, text: 'at 1' });
  });

  test('[D26] units of one batch pass through a head one after the other, and it is written once', async () => {
    const opened = await fresh();
    const before = await opened.commits();
    const units = Array.from({ length: 20 }, () => opened.store.write(SPACE, ['ledger'], countUp('ledger')));
    expect(await Promise.all(units)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect((await opened.commits()) - before).toBe(1);
    expect(await opened.store.read(SPACE, (tx) => tx.heads.get('ledger'))).toMatchObject({ n: 20 });
  });

  test('[D26] what a failed unit did to a head is gone, and the others count without a gap', async () => {
    const { store } = await fresh();
    const bad = store.write(SPACE, ['ledger'], async (tx) => {
      await countUp('ledger')(tx);
      throw new Error('a bug');
    });
    const [first, , third] = await Promise.all([
      store.write(SPACE, ['ledger'], countUp('ledger')),
      expect(bad).rejects.toThrow('a bug'),
      store.write(SPACE, ['ledger'], countUp('ledger')),
    ]);
    expect([first, third]).toEqual([1, 2]);
    expect(await store.read(SPACE, (tx) => tx.heads.get('ledger'))).toMatchObject({ n: 2 });
  });

  test('[D26] a head that was not declared can be neither read nor written, whoever else has it', async () => {
    const { store } = await fresh();
    const others = store.write(SPACE, ['ledger'], countUp('ledger'));
    const read = store.write(SPACE, [], (tx) => tx.heads.get('ledger'));
    const written = store.write(SPACE, ['agent:a'], async (tx) =>
      tx.heads.set('ledger', { n: 99, at: 99, text: '' }),
    );
    await Promise.all([
      others,
      expect(read).rejects.toThrow('ledger was not declared'),
      expect(written).rejects.toThrow('ledger was not declared'),
    ]);
    expect(await store.read(SPACE, (tx) => tx.heads.get('ledger'))).toMatchObject({ n: 1 });
  });

  test('[D26] a head is read before it is written', async () => {
    const { store } = await fresh();
    const blind = store.write(SPACE, ['ledger'], async (tx) =>
      tx.heads.set('ledger', { n: 1, at: 1, text: '' }),
    );
    await expect(blind).rejects.toThrow('before it was read');
  });

  test('[D27] heads of the same name in two spaces and on the server are three heads', async () => {
    const { store } = await fresh();
    await Promise.all([
      store.write('sp_1', ['agent:a'], countUp('agent:a')),
      store.write('sp_2', ['agent:a'], countUp('agent:a')),
      store.write('sp_2', ['agent:a'], countUp('agent:a')),
    ]);
    const ns = await Promise.all(
      ['sp_1', 'sp_2', SERVER].map((s) => store.read(s, async (tx) => (await tx.heads.get('agent:a'))?.n)),
    );
    expect(ns).toEqual([1, 2, undefined]);
  });
}
