import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshFolder } from '../../testing/folders.ts';
import { aLine } from '../../testing/things.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));
const open = (file: string, opened: string | null = null) =>
  SqliteStore.open({ file, opened, sealer: vault, sealHead: vault.mac });
const write = (store: SqliteStore, seq: number) =>
  store.write('sp_1', [], (tx) => tx.ledger.insert({ ...aLine(), seq }));

test('[D26] a data folder that goes away takes nothing more, and everything once it is back', async () => {
  const folder = freshFolder();
  const store = open(join(folder, 'store.db'));
  onTestFinished(() => store.stop());
  await write(store, 1);
  renameSync(folder, `${folder}-aside`);
  await expect(write(store, 2)).rejects.toMatchObject({ fault: 'unavailable', detail: { retryAfter: 30 } });
  expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(1);
  renameSync(`${folder}-aside`, folder);
  await write(store, 2);
  expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(2);
});

test('[D26] a second thread opens the file that the first has opened, and never makes another', () => {
  const file = join(freshFolder(), 'store.db');
  expect(() => open(file, '1:2')).toThrow('moved or removed');
  expect(existsSync(file)).toBe(false);
});
