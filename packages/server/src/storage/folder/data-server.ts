import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openServerError } from '../postgres/open.ts';
import { PostgresStore, sealedBy } from '../postgres.ts';
import { masterKeys } from '../sealing/master-key.ts';
import { assertSealedBy, noteSealedBy } from '../sealing/sealed-by.ts';
import { SqliteSession } from '../sqlite/session.ts';
import { MasterVault } from '../vault.ts';
import { CHECKPOINT_FILE, DATABASE_FILE, type DataFolder } from './data-folder.ts';
import { makeFolder } from './folder.ts';
import { whereMoved } from './moved.ts';

/** The data is in PostgreSQL; the folder keeps the checkpoints, and the master key unless a secret is given. */
export async function openDataServer(
  folder: string,
  secret: string | null,
  { url, warn }: { url: string; warn?: (message: string) => void },
): Promise<DataFolder> {
  makeFolder(folder);
  await assertNoOtherData(folder);
  const explain = (reason: unknown): never => {
    throw openServerError(reason, url);
  };
  const noted = await sealedBy(url).catch(explain);
  const masters = masterKeys(folder, secret, noted !== null);
  const [master, ...olderMasters] = masters;
  const vault = new MasterVault(master, olderMasters);
  assertSealedBy(noted, vault);
  const options = { url, sealer: vault, sealHead: vault.sealHead };
  const store = await PostgresStore.open(warn === undefined ? options : { ...options, warn }).catch(explain);
  try {
    await noteSealedBy(store, vault);
  } catch (reason) {
    await store.stop();
    throw reason;
  }
  const checkpoints = join(folder, CHECKPOINT_FILE);
  const shared = { at: { url }, masters, turns: null };
  return { folder, checkpoints, vault, store, clock: store.clock, local: null, shared };
}

/** If the folder holds data that the database lacks, it would seem lost. */
async function assertNoOtherData(folder: string): Promise<void> {
  const file = join(folder, DATABASE_FILE);
  if (!existsSync(file) || statSync(file).size === 0) return;
  const session = new SqliteSession(file);
  try {
    if ((await whereMoved(session)) !== null) return;
  } finally {
    session.db.close();
  }
  throw new Error(
    `${folder} holds data in SQLite, and DATABASE_URL names a PostgreSQL. Move the data with "lanternroom migrate --from sqlite:${folder} --to postgres:URL", or choose another folder with --data.`,
  );
}
