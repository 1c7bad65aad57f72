import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../config.ts';
import { SERVER } from '../core/store.ts';
import { SqliteStore } from './sqlite.ts';
import { BorrowedTurns } from './turns.ts';
import { MasterVault } from './vault.ts';

export type DataFolder = {
  folder: string;
  database: string;
  checkpoints: string;
  vault: MasterVault;
  store: SqliteStore;
  /** For the thread that takes deliveries in. */
  master: Uint8Array;
  turns: BorrowedTurns;
};

export const DATABASE_FILE = 'lanternroom.db';
const SECRET_FILE = 'secret.key';
const CHECKPOINT_FILE = 'ledger.checkpoints';
const LEAST_SECRET = 24;

/** Opens the data folder: makes it on the first start, refuses it with a clear sentence when something is wrong. */
export async function openDataFolder(folder: string, secret: string | null): Promise<DataFolder> {
  makeFolder(folder);
  const database = join(folder, DATABASE_FILE);
  const checkpoints = join(folder, CHECKPOINT_FILE);
  assertNotEmptied(database, checkpoints);
  const master = masterKey(folder, secret, existsSync(database));
  const vault = new MasterVault(master);
  const turns = new BorrowedTurns();
  const store = SqliteStore.open({ file: database, sealer: vault, sealHead: vault.mac, turns });
  keepPrivate(database);
  try {
    await assertSameKey(store, vault);
  } catch (reason) {
    await store.stop();
    throw reason;
  }
  return { folder, database, checkpoints, vault, store, master, turns };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (reason) {
    throw new Error(
      `The data folder ${folder} cannot be made. Check its owner and permissions, or choose another with --data.`,
      { cause: reason },
    );
  }
}

/** SQLite takes an empty file for a new one. The ledger's ends beside it tell that it was not always empty. */
function assertNotEmptied(database: string, checkpoints: string): void {
  const isEmpty = (file: string) => !existsSync(file) || statSync(file).size === 0;
  if (!isEmpty(database) || isEmpty(checkpoints)) return;
  throw new Error(
    `The database ${database} is missing or empty, and ${checkpoints} tells that there was one. Put it back, or restore a backup into another folder with "lanternroom restore FILE --data DIR".`,
  );
}

/** The log is made by SQLite with the rights that the database had at that moment. */
function keepPrivate(database: string): void {
  for (const file of [database, `${database}-wal`, `${database}-shm`]) {
    if (existsSync(file)) chmodSync(file, 0o600);
  }
}

function masterKey(folder: string, secret: string | null, hasData: boolean): Uint8Array {
  if (secret !== null) {
    if (secret.length >= LEAST_SECRET) return Buffer.from(secret);
    throw new UsageError(
      `LANTERNROOM_SECRET must have at least ${LEAST_SECRET} characters; "openssl rand -base64 32" makes a good one.`,
    );
  }
  const file = join(folder, SECRET_FILE);
  if (existsSync(file)) return Buffer.from(readFileSync(file, 'utf8').trim());
  if (hasData) {
    throw new Error(
      `${file} is missing, and the data was sealed with it. Put it back, or set LANTERNROOM_SECRET to the key that was used.`,
    );
  }
  const made = randomBytes(32).toString('base64');
  try {
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: 'wx' });
  } catch (reason) {
    throw new Error(
      `The data folder ${folder} cannot be written. Check its owner and permissions, or choose another with --data.`,
      { cause: reason },
    );
  }
  return Buffer.from(made);
}

/** The first start notes which key seals this store; every later one must bring the same. */
async function assertSameKey(store: SqliteStore, vault: MasterVault): Promise<void> {
  const id = vault.keyId.toString('hex');
  const known = await store.read(SERVER, (tx) => tx.heads.get('vault'));
  if (known === null) {
    await store.write(SERVER, ['vault'], async (tx) => {
      if ((await tx.heads.get('vault')) === null) tx.heads.set('vault', { n: 1, at: 0, text: id });
    });
    return;
  }
  if (known.text === id) return;
  throw new Error(
    'This is not the master key that the data was sealed with. Set LANTERNROOM_SECRET (or secret.key in the data folder) to the right one; nothing was changed.',
  );
}
