import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../error-code.ts';
import { SECRET_FILE } from '../sealing/master-key.ts';
import { Database } from '../sqlite/driver.ts';
import { openStoreError } from '../sqlite/errors.ts';
import { assertOurs } from '../sqlite/migrate.ts';
import { DATABASE_FILE, type DataFolder, isOwnFile } from './data-folder.ts';
import { isFolder, isFull, leaveTo, makeFolder, syncFolder } from './folder.ts';
import { lockFolder } from './folder-lock.ts';

/** A consistent copy while others read and write: SQLite makes it in one transaction. */
export function backup(data: DataFolder, file: string, replace: boolean) {
  if (data.local === null)
    throw new Error(
      'The data is in PostgreSQL: copy it with pg_dump, and keep the master key with the copy.',
    );
  const target = resolve(file);
  if (isFolder(target)) throw new Error(`${target} is a folder. Name a file in it.`);
  if (existsSync(target) && !replace)
    throw new Error(`${target} exists. Choose another name, or replace it with --force.`);
  makeFolder(dirname(target), 'folder', 'choose another place for the backup');
  assertNotOurs(target, data.folder);
  // The previous backup stays until this one is complete: a full disk must not cost the last copy.
  const part = `${target}.${process.pid}.part`;
  try {
    sweepParts(target);
    copyInto(data.local.store.session.db, part);
    renameSync(part, target);
    syncFolder(dirname(target));
  } catch (reason) {
    throw notCopied(reason, { from: join(data.folder, DATABASE_FILE), to: dirname(target) });
  }
  const secret = join(data.folder, SECRET_FILE);
  return { file: target, bytes: statSync(target).size, secret: existsSync(secret) ? secret : null };
}

/** With --force, a slip would cost the master key, or the database under a running server. */
function assertNotOurs(target: string, folder: string): void {
  if (!isOwnFile(basename(target)) || realpathSync(dirname(target)) !== realpathSync(folder)) return;
  throw new Error(
    `${target} is what the server itself works with, or its place. Choose another name for the backup.`,
  );
}

/** Removes partial copies left by a killed backup: they may be as large as the data, and nobody would look for them. */
function sweepParts(target: string): void {
  const name = basename(target);
  for (const found of readdirSync(dirname(target))) {
    const pid = found.startsWith(name) ? /^\.(\d+)\.part$/.exec(found.slice(name.length))?.[1] : undefined;
    // Process numbers repeat, in a container at every run: a file with our own number is not ours either.
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    removePart(join(dirname(target), found));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === 'EPERM'; // it runs, as somebody else
  }
}

function removePart(part: string): void {
  for (const file of [part, `${part}-journal`]) rmSync(file, { force: true });
}

function copyInto(db: Database, target: string): void {
  db.exec('pragma query_only = off');
  try {
    closeSync(openSync(target, 'wx', 0o600)); // SQLite takes over the rights of an empty file that is there
    db.prepare('vacuum into ?').run(target);
  } catch (reason) {
    removePart(target); // half a copy must not be taken for a whole one
    throw reason;
  } finally {
    db.exec('pragma query_only = on');
  }
}

/** The place that was chosen is the likely reason; a source that is damaged says so itself. */
function notCopied(reason: unknown, { from, to }: { from: string; to: string }): Error {
  const code = codeOf(reason);
  if (isFull(code) || code === 'SQLITE_FULL')
    return new Error(`The disk of ${to} is full. Free some space there, or choose another place.`, {
      cause: reason,
    });
  if (/^(E[A-Z]+|SQLITE_(IOERR|CANTOPEN|READONLY|PERM)\w*)$/.test(code)) {
    const words = reason instanceof Error ? reason.message : code;
    return new Error(
      `${to} does not take the copy (${words}). Check who may write there and the health of its disk, or choose another place.`,
      { cause: reason },
    );
  }
  return openStoreError(reason, from);
}

/** A name that no store has, until the copy is complete: a killed restore can be repeated. */
const PART = 'restore.part';

/** Into an empty folder only: a restore never overwrites. */
export function restore(file: string, folder: string) {
  const source = resolve(file);
  if (!existsSync(source)) throw new Error(`There is no backup at ${source}.`);
  const db = openSound(source);
  try {
    const lock = lockFolder(folder, ', then restore the backup into an empty folder.');
    try {
      return restoreInto(folder, { db, from: source });
    } finally {
      lock.release();
    }
  } finally {
    db.close();
  }
}

/** SQLite copies it, not we: if the server was killed, part of the data is in the log beside the file. */
function restoreInto(folder: string, { db, from }: { db: Database; from: string }) {
  if (readdirSync(folder).some((name) => name.startsWith(DATABASE_FILE))) {
    throw new Error(
      `${folder} already holds data. Choose an empty folder with --data, or move the old one aside.`,
    );
  }
  const [part, target] = [join(folder, PART), join(folder, DATABASE_FILE)];
  try {
    removePart(part);
    copyInto(db, part);
    leaveTo(folder, part);
    renameSync(part, target);
    syncFolder(folder);
  } catch (reason) {
    throw notCopied(reason, { from, to: folder });
  }
  return { folder: resolve(folder), bytes: statSync(target).size };
}

function openSound(file: string): Database {
  let db: Database | undefined;
  try {
    db = new Database(file, { readOnly: true });
    const problem = problemOf(db);
    if (problem === null) return db;
    throw new Error(problem);
  } catch (reason) {
    db?.close();
    const problem = reason instanceof Error ? reason.message : String(reason);
    throw new Error(`${file} is not a sound backup (${problem}). Nothing was restored.`, { cause: reason });
  }
}

function problemOf(db: Database): string | null {
  assertOurs(db);
  return isEmpty(db) ? 'there is nothing in it' : (integrityProblems(db)[0] ?? null);
}

function isEmpty(db: Database): boolean {
  return db.prepare('select 1 from sqlite_master').get() === undefined;
}

/** What SQLite's own full check finds. */
export function integrityProblems(db: Database): string[] {
  const rows = db.prepare('pragma integrity_check').all() as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
}
