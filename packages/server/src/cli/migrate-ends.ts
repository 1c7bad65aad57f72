import { closeSync, copyFileSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Room } from '../core/room.ts';
import { Auditor } from '../storage/auditor.ts';
import { CHECKPOINT_FILE, DATABASE_FILE, type Opened } from '../storage/folder/data-folder.ts';
import { leaveTo } from '../storage/folder/folder.ts';
import { lockFolder } from '../storage/folder/folder-lock.ts';
import { randomIds, systemClock } from '../storage/ids.ts';
import { type Moved, move, type Progress } from '../storage/move/move.ts';
import { PostgresEnd } from '../storage/move/postgres.ts';
import { SqliteEnd } from '../storage/move/sqlite.ts';
import { isAway } from '../storage/postgres/errors.ts';
import { openServerError, shownUrl } from '../storage/postgres/open.ts';
import { PostgresStore } from '../storage/postgres.ts';
import { masterKeys, SECRET_FILE } from '../storage/sealing/master-key.ts';
import { noteSealedBy } from '../storage/sealing/sealed-by.ts';
import { SqliteStore } from '../storage/sqlite.ts';
import { MasterVault } from '../storage/vault.ts';

export type MoveOrder = {
  folder: string;
  url: string;
  direction: 'toServer' | 'toFolder';
  config: Config;
  progress: Progress;
};

/** The folder is locked before anything is opened or migrated: a server that runs on it would not notice the change. */
export async function moveAll(order: MoveOrder): Promise<Moved> {
  const { folder, direction } = order;
  const file = join(folder, DATABASE_FILE);
  if (direction === 'toServer' && !existsSync(file)) throw new Error(`There is no data in ${folder}.`);
  const lock = lockFolder(folder, ', then move its data.');
  try {
    return await moveLocked(order, file);
  } finally {
    lock.release();
  }
}

/** Opens both sides, brings both to this version's schema, and moves. */
async function moveLocked(order: MoveOrder, file: string): Promise<Moved> {
  const { folder, url, direction, config } = order;
  const [master, ...older] = masterKeys(config.data, config.secret, true);
  const vault = new MasterVault(master, older);
  const sealing = { sealer: vault, sealHead: vault.sealHead };
  const openFolder = () => SqliteStore.open({ file, ...sealing });
  const openServer = () =>
    PostgresStore.open({ url, ...sealing }).catch((reason: unknown) => {
      throw openServerError(reason, url);
    });
  // SQLite keeps the permissions of an empty file that already exists.
  if (!existsSync(file)) {
    closeSync(openSync(file, 'wx', 0o600));
    leaveTo(folder, file);
  }
  // Opening each side as a store brings its schema up to date.
  await openFolder().stop();
  await (await openServer()).stop();
  const server = await PostgresEnd.open(url);
  let local: SqliteEnd | null = null;
  try {
    local = new SqliteEnd(folder, file);
    const [from, to] = direction === 'toServer' ? [local, server] : [server, local];
    const openTarget = direction === 'toServer' ? openServer : async () => openFolder();
    const verifyChains = async () => {
      await verify(openTarget, vault, join(config.data, CHECKPOINT_FILE));
      // Before the old side is closed: if we were killed after that, nobody would copy them any more.
      if (direction === 'toFolder') takeAlong(config.data, folder);
    };
    return await move({ from, to, progress: order.progress, verifyChains });
  } catch (reason) {
    throw isAway(reason) ? lostOnTheWay(reason, url) : reason;
  } finally {
    await local?.close();
    await server.close();
  }
}

function lostOnTheWay(reason: unknown, url: string): Error {
  const said = reason instanceof Error ? reason.message : String(reason);
  return new Error(
    `The connection to ${shownUrl(url)} was lost (${said}). Run the command again: it continues where it stopped.`,
    { cause: reason },
  );
}

async function verify(open: () => Promise<Opened>, vault: MasterVault, checkpoints: string): Promise<void> {
  const store = await open();
  try {
    const settings = { undoWindow: 0, rates: { test: NO_RATE, live: NO_RATE } };
    const room: Room = { store, clock: systemClock(), ids: randomIds, vault, settings };
    await noteSealedBy(store, vault);
    const auditor = new Auditor({ room, session: store.session, file: checkpoints, vault });
    for (const { id, handle } of await store.directory.spaces()) {
      const verdict = await auditor.verify(id);
      if (!verdict.ok)
        throw new Error(
          `The record of @${handle} is not whole (${verdict.problems[0]?.problem}). Nothing was moved; see "lanternroom audit verify".`,
        );
    }
  } finally {
    await store.stop();
  }
}

const NO_RATE = { perHour: 1, burst: 1 };

/** Copies the master key and the ledger's checkpoints to where the data went, unless they are already there. */
function takeAlong(from: string, to: string): void {
  for (const name of [SECRET_FILE, CHECKPOINT_FILE]) {
    const [source, target] = [join(from, name), join(to, name)];
    if (!existsSync(source) || existsSync(target)) continue;
    copyFileSync(source, target);
    leaveTo(to, target);
  }
}
