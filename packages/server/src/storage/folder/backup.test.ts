import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshFolder } from '../../testing/folders.ts';
import { aLine } from '../../testing/stores/things.ts';
import { backup, restore } from './backup.ts';
import { DATABASE_FILE, type DataFolder, openDataFolder } from './data-folder.ts';
import { lockFolder } from './folder-lock.ts';

const SECRET = 'a master key that is long enough';

async function opened(folder = freshFolder()): Promise<DataFolder> {
  const data = await openDataFolder(folder, SECRET);
  onTestFinished(() => data.store.stop());
  return data;
}

async function withLines(count: number): Promise<DataFolder> {
  const data = await opened();
  for (let seq = 1; seq <= count; seq++)
    await data.store.write('sp_1', [], (tx) => tx.ledger.insert({ ...aLine(), seq }));
  return data;
}

const linesIn = (data: DataFolder) => data.store.read('sp_1', (tx) => tx.ledger.page(0, 100));

test('[D32] a database that was taken from a server is restored with what still lies in the log beside it', async () => {
  const data = await withLines(5);
  const file = join(data.folder, DATABASE_FILE);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  const folder = freshFolder();
  restore(file, folder);
  expect(await linesIn(await opened(folder))).toHaveLength(5);
});

test('[D32] what a restore left behind that was killed is in nobody’s way', async () => {
  const data = await withLines(2);
  const file = join(freshFolder(), 'lanternroom.backup');
  backup(data, file, false);
  const folder = freshFolder();
  writeFileSync(join(folder, 'restore.part'), 'half a copy');
  restore(file, folder);
  expect(readdirSync(folder).sort()).toEqual([DATABASE_FILE, 'server.lock']);
  expect(await linesIn(await opened(folder))).toHaveLength(2);
});

test('[D32] a backup clears away what a killed one left behind, and nothing of one that still runs', async () => {
  const data = await withLines(2);
  const folder = freshFolder();
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const left = [ended, process.pid].flatMap((pid) => [`b.${pid}.part`, `b.${pid}.part-journal`]);
  const others = [`b.${process.ppid}.part`, `c.${ended}.part`, 'b.notes.part'];
  for (const name of [...left, ...others]) writeFileSync(join(folder, name), 'half a copy');
  backup(data, join(folder, 'b'), false);
  expect(readdirSync(folder).sort()).toEqual(['b', ...others].sort());
});

test('[D32] a backup never takes the place of what the server works with, whatever the way to it', async () => {
  const data = await withLines(2);
  writeFileSync(join(data.folder, 'secret.key'), SECRET);
  const way = join(freshFolder(), 'link');
  symlinkSync(data.folder, way);
  const names = [DATABASE_FILE, `${DATABASE_FILE}-wal`, 'secret.key', 'ledger.checkpoints', 'server.lock'];
  for (const name of [...names, 'lanternroom.json'])
    for (const folder of [data.folder, way])
      expect(() => backup(data, join(folder, name), true)).toThrow(/Choose another name for the backup\.$/);
  expect(readFileSync(join(data.folder, 'secret.key'), 'utf8')).toBe(SECRET);
  const elsewhere = join(freshFolder(), DATABASE_FILE);
  expect(backup(data, elsewhere, false).file).toBe(elsewhere);
});

test('[D32][D80] nothing is restored into the folder of a running server', async () => {
  const data = await withLines(1);
  const file = join(freshFolder(), 'lanternroom.backup');
  expect(backup(data, file, false).secret).toBeNull(); // it was given, and lies in no file
  const folder = freshFolder();
  const lock = lockFolder(folder);
  onTestFinished(() => lock.release());
  expect(() => restore(file, folder)).toThrow('A server is already running');
  expect(existsSync(join(folder, DATABASE_FILE))).toBe(false);
});

test('[D31][D32] a place that takes no file, or is a folder, is told with what to do', async () => {
  const data = await withLines(1);
  const folder = freshFolder();
  for (const force of [false, true])
    expect(() => backup(data, folder, force)).toThrow(`${folder} is a folder. Name a file in it.`);
  expect(() => backup(data, '/proc/lanternroom.backup', false)).toThrow(
    /^\/proc does not take the copy \(.*\)\. Check .* choose another place\.$/,
  );
});
