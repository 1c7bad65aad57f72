import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshFolder } from '../../testing/folders.ts';
import { makeFolder } from './folder.ts';
import { lockFolder } from './folder-lock.ts';

test('[D80] a data folder has one server at a time, and the next when it has gone', () => {
  const folder = freshFolder();
  const first = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(/A server is already running on .*Stop it first/);
  first.release();
  lockFolder(folder).release();
  expect(readdirSync(folder)).toEqual(['server.lock']);
});

test('[D80] a lock ends with its process, however that ends', async () => {
  const folder = freshFolder();
  const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const holder = spawn(
    process.execPath,
    [
      '-e',
      `const db = new (require(process.argv[1]).DatabaseSync)(process.argv[2]);
       db.exec('begin exclusive'); console.log('held'); setInterval(() => db.isTransaction, 1000)`,
      driver,
      join(folder, 'server.lock'),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  onTestFinished(() => void holder.kill('SIGKILL'));
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  expect(() => lockFolder(folder)).toThrow(/already running/);
  holder.kill('SIGKILL');
  await ended;
  lockFolder(folder).release();
});

test('[D25] a folder in a place that takes none is refused at once', () => {
  for (const folder of ['/proc/x', '/proc/x/deeper/data', '/dev/null/data']) {
    expect(() => makeFolder(folder)).toThrow(/^The data folder .* cannot be made\. .*--data\.$/);
  }
  const file = join(freshFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow(/A file is in its way/);
  makeFolder(join(freshFolder(), 'several', 'folders', 'deep'));
});
