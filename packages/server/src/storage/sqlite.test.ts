import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../testing/world.ts';
import { describeStore, type OpenStore } from './contract.ts';
import { SqliteStore } from './sqlite.ts';
import { MasterVault } from './vault.ts';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/** Commits in a write-ahead log: the last frame of each says how large the database is now, the others say 0. */
function countCommits(wal: Buffer): number {
  const page = wal.length < WAL_HEADER ? 0 : wal.readUInt32BE(8);
  let commits = 0;
  for (let at = WAL_HEADER; at + FRAME_HEADER <= wal.length; at += FRAME_HEADER + page) {
    if (wal.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

async function open(): Promise<OpenStore> {
  const folder = temporaryFolder();
  const file = join(folder, 'store.db');
  const vault = new MasterVault(Buffer.from('a master key for tests'));
  const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
  return {
    store,
    commits: async () => countCommits(readFileSync(`${file}-wal`)),
    stop: async () => {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describeStore('SQLite', open);
