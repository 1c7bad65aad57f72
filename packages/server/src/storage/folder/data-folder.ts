import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SETTINGS_FILE } from '../../config.ts';
import type { News, Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import type { Whereabouts } from '../intake/wire.ts';
import { type MasterKeys, masterKeys, SECRET_FILE } from '../sealing/master-key.ts';
import { assertSealedBy, noteSealedBy } from '../sealing/sealed-by.ts';
import type { Signals } from '../signals.ts';
import { openStoreError } from '../sqlite/errors.ts';
import { fileAt } from '../sqlite/same-file.ts';
import { BorrowedTurns } from '../sqlite/turns.ts';
import { SqliteStore } from '../sqlite.ts';
import type { Session } from '../statement.ts';
import { MasterVault } from '../vault.ts';
import { leaveTo, makeFolder } from './folder.ts';
import { LOCK_FILE } from './folder-lock.ts';
import { assertRights } from './rights.ts';

/** What every database offers beside the store itself. */
export type Opened = Store & {
  readonly signals: Signals;
  readonly session: Session;
  /** News of what another thread of this process has committed. */
  hear(news: News): void;
  stop(): Promise<void>;
};

export type DataFolder = {
  folder: string;
  checkpoints: string;
  vault: MasterVault;
  store: Opened;
  /** The time that all who share the data agree on; null if only one process uses it, with the system's clock. */
  clock: Clock | null;
  /** The database file, if it is one. */
  local: { file: string; store: SqliteStore } | null;
  /** What a second thread on the same data needs. */
  shared: { at: Whereabouts; masters: MasterKeys; turns: BorrowedTurns | null };
};

export const DATABASE_FILE = 'lanternroom.db';
export const CHECKPOINT_FILE = 'ledger.checkpoints';

const PRIVATE = 0o600;

const FILES = {
  written: [...filesOf(DATABASE_FILE), CHECKPOINT_FILE],
  read: [SECRET_FILE],
};

/** Whether the server keeps a file of this name in its data folder. */
export function isOwnFile(name: string): boolean {
  return [...FILES.written, ...FILES.read, LOCK_FILE, SETTINGS_FILE].includes(name);
}

/** A database with what SQLite keeps beside it while it is open. */
function filesOf(database: string): string[] {
  return [database, `${database}-wal`, `${database}-shm`];
}

/** Whether there is a store, or was one: remains are refused when they are opened. */
export function holdsStore(folder: string): boolean {
  assertRights(folder, FILES);
  return [DATABASE_FILE, CHECKPOINT_FILE].some((name) => existsSync(join(folder, name)));
}

/** Opens the data folder: makes it on the first start, refuses it with a clear sentence when something is wrong. */
export async function openDataFolder(folder: string, secret: string | null): Promise<DataFolder> {
  makeFolder(folder);
  assertRights(folder, FILES);
  const database = join(folder, DATABASE_FILE);
  const checkpoints = join(folder, CHECKPOINT_FILE);
  assertNotEmptied(database, checkpoints);
  const masters = masterKeys(folder, secret, existsSync(database));
  const [master, ...olderMasters] = masters;
  const vault = new MasterVault(master, olderMasters);
  const turns = new BorrowedTurns();
  const admit = (sealedBy: string | null) => assertSealedBy(sealedBy, vault);
  const options = { file: database, sealer: vault, sealHead: vault.sealHead, turns, admit };
  const store = inPrivate(database, () => SqliteStore.open(options));
  try {
    await noteSealedBy(store, vault);
  } catch (reason) {
    await store.stop();
    throw reason;
  }
  const local = { file: database, store };
  const shared = { at: { file: database, opened: fileAt(database) }, masters, turns };
  return { folder, checkpoints, vault, store, clock: null, local, shared };
}

/** SQLite takes an empty file for a new store. Checkpoints beside it show that it was not always empty. */
function assertNotEmptied(database: string, checkpoints: string): void {
  if (!isEmpty(database) || isEmpty(checkpoints)) return;
  throw new Error(
    `The database ${database} is missing or empty, and ${checkpoints} says that there was one. Put it back, or restore a backup into another folder with "lanternroom restore FILE --data DIR".`,
  );
}

/** SQLite would make the file as the process makes any. Where nothing comes of it, none is left. */
function inPrivate(database: string, open: () => SqliteStore): SqliteStore {
  const isNew = !existsSync(database);
  try {
    if (isNew) makePrivate(database);
    const store = open();
    keepPrivate(database);
    return store;
  } catch (reason) {
    if (isNew && isEmpty(database)) for (const file of filesOf(database)) rmSync(file, { force: true });
    throw reason;
  }
}

function makePrivate(database: string): void {
  try {
    closeSync(openSync(database, 'a', PRIVATE));
  } catch (reason) {
    throw openStoreError(reason, database);
  }
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** SQLite creates its log with the permissions that the database has at that moment. */
function keepPrivate(database: string): void {
  for (const file of filesOf(database)) {
    if (!existsSync(file)) continue;
    chmodSync(file, PRIVATE);
    leaveTo(dirname(file), file);
  }
}
