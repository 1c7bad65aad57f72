import { MIGRATIONS } from '../migrations.ts';
import type { Database } from './driver.ts';

/** "LTRN", so that somebody else's file is not taken for ours. */
const APPLICATION_ID = 0x4c54524e;

/** Refuses a file that is newer, damaged, or not ours. It comes first: not even a pragma may change such a file. */
export function assertOurs(db: Database): void {
  const version = pragma(db, 'user_version');
  refuseForeign(db, version);
  if (version > MIGRATIONS.length) {
    throw new Error(
      `The data was written by a newer Lanternroom (schema ${version}, this one knows ${MIGRATIONS.length}). Start the newer version, or restore a backup from before the upgrade.`,
    );
  }
  if (version > 0) quickCheck(db);
}

/** The master keys that the store has recorded; null if none. */
export function sealedBy(db: Database): string | null {
  if (pragma(db, 'user_version') === 0) return null;
  const noted = db
    .prepare("select text from heads where space_id = '' and name = 'vault' and seal != ''")
    .get();
  return (noted as { text: string } | undefined)?.text ?? null;
}

/** Brings the file to this program's version in one transaction: if we are killed midway, it stays as it was. */
export function migrateSqlite(db: Database): void {
  if (pragma(db, 'user_version') === MIGRATIONS.length) return;
  db.exec('begin immediate');
  try {
    // Read again: another process may have migrated between the look and the lock.
    const missing = MIGRATIONS.slice(pragma(db, 'user_version'));
    for (const sql of missing.flat()) db.exec(inSqlite(sql));
    if (missing.length > 0)
      db.exec(`pragma user_version = ${MIGRATIONS.length}; pragma application_id = ${APPLICATION_ID}`);
    db.exec('commit');
  } catch (reason) {
    if (db.isTransaction) db.exec('rollback');
    throw reason;
  }
}

/** A migration step in SQLite's words. */
export function inSqlite(sql: string): string {
  return sql.replaceAll('{bytes}', 'blob').replaceAll('{random}', 'lower(hex(randomblob(32)))');
}

function refuseForeign(db: Database, version: number): void {
  const { n } = db.prepare('select count(*) as n from sqlite_master').get() as { n: number };
  const ours = pragma(db, 'application_id') === APPLICATION_ID;
  if (ours || (n === 0 && version === 0)) return;
  throw new Error('This is a database of another program. Choose another folder with --data.');
}

/** Reads the header and both ends of every table; a full check belongs to "lanternroom doctor". */
function quickCheck(db: Database): void {
  const first = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
  for (const { name } of first) {
    // Without an index: otherwise the index would answer, and the table would stay unread.
    for (const end of ['asc', 'desc']) {
      db.prepare(`select * from "${name}" not indexed order by rowid ${end} limit 1`).get();
    }
  }
}

/**
 * What a start may spend on reading every page: about a tenth of a second. Larger files are left to "lanternroom
 * doctor".
 */
const WHOLE_CHECK_BYTES = 64 * 1024 * 1024;

/** In a file of ordinary size, damage in the middle is found before the first request meets it. */
export function assertSound(db: Database): void {
  if (pragma(db, 'page_count') * pragma(db, 'page_size') > WHOLE_CHECK_BYTES) return;
  const [found] = db.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
  if (found?.quick_check !== 'ok') throw new Error(`malformed: ${found?.quick_check.replaceAll('\n', ' ')}`);
}

function pragma(db: Database, name: string): number {
  const row = db.prepare(`pragma ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}
