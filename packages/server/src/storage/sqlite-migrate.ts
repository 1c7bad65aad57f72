import type Database from 'libsql';
import { MIGRATIONS } from './migrations.ts';

/** "LTRN", so that a file of somebody else's is not taken for ours. */
const APPLICATION_ID = 0x4c54524e;

/** Refuses a file that is newer, damaged, or not ours. Comes first: not even a pragma may change such a file. */
export function assertOurs(db: Database.Database): void {
  const version = pragma(db, 'user_version');
  refuseForeign(db, version);
  if (version > MIGRATIONS.length) {
    throw new Error(
      `The data was written by a newer Lanternroom (schema ${version}, this one knows ${MIGRATIONS.length}). Start the newer version, or restore a backup from before the upgrade.`,
    );
  }
  if (version > 0) quickCheck(db);
}

/** Brings the file to this program's version, step by step, each step in a transaction. */
export function migrateSqlite(db: Database.Database): void {
  for (let step = pragma(db, 'user_version'); step < MIGRATIONS.length; step++) migrateStep(db, step);
}

function migrateStep(db: Database.Database, step: number): void {
  db.exec('begin immediate');
  try {
    // Another process may have been faster between the look and the lock.
    if (pragma(db, 'user_version') === step) {
      for (const sql of MIGRATIONS[step] ?? []) db.exec(sql.replaceAll('{bytes}', 'blob'));
      db.exec(`pragma user_version = ${step + 1}; pragma application_id = ${APPLICATION_ID}`);
    }
    db.exec('commit');
  } catch (reason) {
    if (db.inTransaction) db.exec('rollback');
    throw reason;
  }
}

function refuseForeign(db: Database.Database, version: number): void {
  const { n } = db.prepare('select count(*) as n from sqlite_master').get() as { n: number };
  const ours = pragma(db, 'application_id') === APPLICATION_ID;
  if (ours || (n === 0 && version === 0)) return;
  throw new Error('This is a database of another program. Choose another folder with --data.');
}

/** The header and both ends of every table; a full check belongs to "lanternroom doctor". */
function quickCheck(db: Database.Database): void {
  const first = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
  for (const { name } of first) {
    // Without an index: one of those would answer instead, and the table would stay unread.
    for (const end of ['asc', 'desc']) {
      db.prepare(`select * from "${name}" not indexed order by rowid ${end} limit 1`).get();
    }
  }
}

function pragma(db: Database.Database, name: string): number {
  const row = db.prepare(`pragma ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}
