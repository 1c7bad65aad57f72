import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Topic } from '../../core/store.ts';
import { freshFolder } from '../../testing/folders.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';

const SPACE = 'sp_1';
const vault = new MasterVault(Buffer.from('a master key for tests'));

function twoOnOneFile() {
  const file = join(freshFolder(), 'store.db');
  const open = () => {
    const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
    onTestFinished(() => store.stop());
    return store;
  };
  return { server: open(), command: open() };
}

const announce = (store: SqliteStore, topic: Topic, about: string[]) =>
  store.write(SPACE, [], async (tx) => {
    for (const name of about) tx.announce(topic, name);
  });

/** Resolves with the next news of this topic. */
const heard = (store: SqliteStore, topic: Topic) =>
  new Promise<string[]>((resolve) => {
    const off = store.signals.on(topic, (about) => {
      off();
      resolve([...about]);
    });
  });

test('[D91] a server is told what another process has committed, and by name', async () => {
  const { server, command } = twoOnOneFile();
  await announce(command, `desk:${SPACE}`, ['from before']);
  await server.listen();
  const other: string[] = [];
  server.signals.on(`inbox:${SPACE}:agent`, () => other.push('inbox'));
  const told = heard(server, `desk:${SPACE}`);
  await announce(command, `desk:${SPACE}`, ['agents', 'people']);
  expect(await told).toEqual(['agents', 'people']);
  const again = heard(server, `desk:${SPACE}`);
  await announce(command, `desk:${SPACE}`, ['producers']);
  expect(await again).toEqual(['producers']);
  expect(other).toEqual([]);
});

test('[D91] its own news is told once and not written down', async () => {
  const { server, command } = twoOnOneFile();
  await server.listen();
  const told: string[][] = [];
  server.signals.on(`desk:${SPACE}`, (about) => told.push([...about]));
  await announce(server, `desk:${SPACE}`, ['own']);
  const theirs = heard(server, 'jobs');
  await announce(command, 'jobs', ['']);
  await theirs;
  expect(told).toEqual([['own']]);
  const head = await server.session.db.prepare("select n, text from heads where name = 'news'").all();
  expect(head).toEqual([{ n: 1, text: '[[["jobs",[""]]]]' }]);
});

test('[D91] a server that was told too much at once lets everybody look again', async () => {
  const { server, command } = twoOnOneFile();
  await server.listen();
  const told = heard(server, `access:${SPACE}:quiet`);
  const names = Array.from({ length: 1000 }, (_, i) => `a delivery with a long name ${i}`);
  await announce(command, `desk:${SPACE}`, names);
  expect(await told).toEqual(['']);
});
