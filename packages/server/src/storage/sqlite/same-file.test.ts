import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshFolder } from '../../testing/folders.ts';
import { aLine } from '../../testing/stores/things.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';
import { Database } from './driver.ts';

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

const BESIDE = ['-wal', '-shm'];

test.each(BESIDE)(
  '[D26] without its %s the store takes nothing more, and what it has taken is there',
  async (name) => {
    const folder = freshFolder();
    const file = join(folder, 'store.db');
    const store = open(file);
    onTestFinished(() => store.stop());
    await write(store, 1);
    rmSync(`${file}${name}`);
    await expect(write(store, 2)).rejects.toMatchObject({ fault: 'unavailable', detail: { retryAfter: 30 } });
    expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(1);
    // As a kill would leave it.
    const left = join(freshFolder(), 'store.db');
    copyFileSync(file, left);
    const again = open(left);
    onTestFinished(() => again.stop());
    expect(await again.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(1);
  },
);

test('[D26] a log that was cut off takes nothing more', async () => {
  const file = join(freshFolder(), 'store.db');
  const store = open(file);
  onTestFinished(() => store.stop());
  await write(store, 1);
  await write(store, 2);
  truncateSync(`${file}-wal`, 100);
  for (const seq of [3, 4]) {
    const refused = await write(store, seq).catch((reason) => reason);
    expect(refused).toMatchObject({ fault: 'unavailable', detail: { retryAfter: 30 } });
    expect(String(refused.detail.cause)).toMatch('-wal was cut off');
  }
});

test('[D26] a log that lost no more than the last commit takes nothing more either', async () => {
  const file = join(freshFolder(), 'store.db');
  const store = open(file);
  onTestFinished(() => store.stop());
  await write(store, 1);
  const before = statSync(`${file}-wal`).size;
  await write(store, 2);
  truncateSync(`${file}-wal`, before);
  for (const seq of [3, 4])
    await expect(write(store, seq)).rejects.toMatchObject({
      fault: 'unavailable',
      detail: { retryAfter: 30 },
    });
});

test('[D26] a log that another program has emptied into the database is no reason to stop', async () => {
  const file = join(freshFolder(), 'store.db');
  const store = open(file);
  onTestFinished(() => store.stop());
  await write(store, 1);
  const other = new Database(file);
  other.exec('pragma wal_checkpoint(truncate)');
  other.close();
  expect(statSync(`${file}-wal`).size).toBe(0);
  await write(store, 2);
  expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(2);
});

test('[D26] another log in the place of its own is not touched, and nothing more is taken', async () => {
  const file = join(freshFolder(), 'store.db');
  const store = open(file);
  onTestFinished(() => store.stop());
  await write(store, 1);
  renameSync(`${file}-wal`, `${file}-aside`);
  writeFileSync(`${file}-wal`, 'of somebody else');
  const before = readFileSync(file);
  await expect(write(store, 2)).rejects.toMatchObject({ fault: 'unavailable' });
  expect(readFileSync(file).equals(before)).toBe(true);
  renameSync(`${file}-aside`, `${file}-wal`);
  await write(store, 2);
});
