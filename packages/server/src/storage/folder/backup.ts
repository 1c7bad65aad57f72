import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { assertOurs } from '../sqlite/migrate.ts';
import { DATABASE_FILE, type DataFolder } from './data-folder.ts';
import { leaveTo, makeFolder } from './folder.ts';

/** A consistent copy while others read and write: SQLite itself makes it, in one transaction. */
export function backup(data: DataFolder, file: string, replace: boolean) {
  if (data.local === null)
    throw new Error(
      'The data is in PostgreSQL: copy it with pg_dump, and keep the master key with the copy.',
    );
  const target = resolve(file);
  if (existsSync(target) && !replace)
    throw new Error(`${target} exists. Choose another name, or replace it with --force.`);
  makeFolder(dirname(target), 'folder', 'choose another place for the backup');
  // The one before stays until this one is whole: a full disk must not cost the last copy.
  const part = `${target}.${process.pid}.part`;
  copyInto(data.local.store.session.db, part);
  renameSync(part, target);
  return { file: target, bytes: statSync(target).size, secret: join(data.folder, 'secret.key') };
}

function copyInto(db: Database.Database, target: string): void {
  db.exec('pragma query_only = off');
  try {
    closeSync(openSync(target, 'wx', 0o600)); // SQLite takes over the rights of an empty file that is there
    db.prepare('vacuum into ?').run(target);
  } catch (reason) {
    rmSync(target, { force: true }); // half a copy must not be taken for a whole one
    throw reason;
  } finally {
    db.exec('pragma query_only = on');
  }
}

/** Into an empty folder only: a restore never overwrites. */
export function restore(file: string, folder: string) {
  const source = resolve(file);
  if (!existsSync(source)) throw new Error(`There is no backup at ${source}.`);
  const problems = checkFile(source);
  if (problems !== null)
    throw new Error(`${source} is not a sound backup (${problems}). Nothing was restored.`);
  makeFolder(folder);
  if (readdirSync(folder).some((name) => name.startsWith(DATABASE_FILE))) {
    throw new Error(
      `${folder} already holds data. Choose an empty folder with --data, or move the old one aside.`,
    );
  }
  const target = join(folder, DATABASE_FILE);
  copyFileSync(source, target);
  chmodSync(target, 0o600);
  leaveTo(folder, target);
  return { folder: resolve(folder), bytes: statSync(target).size };
}

function checkFile(file: string): string | null {
  try {
    const db = new Database(file, { readonly: true });
    try {
      assertOurs(db);
      if (isEmpty(db)) return 'there is nothing in it';
      return integrityProblems(db)[0] ?? null;
    } finally {
      db.close();
    }
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason);
  }
}

function isEmpty(db: Database.Database): boolean {
  return db.prepare('select 1 from sqlite_master').get() === undefined;
}

/** What SQLite's own full check finds. */
export function integrityProblems(db: Database.Database): string[] {
  const rows = db.prepare('pragma integrity_check').all() as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
}
