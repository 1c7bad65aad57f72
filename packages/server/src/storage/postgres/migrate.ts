import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS } from '../migrations.ts';
import { isCrossed } from './errors.ts';
import type { PgLink } from './link.ts';

/** "LTRN": the lock that only one of several starting replicas gets. */
const LOCK = 0x4c54524e;

/** What only this database needs. Each statement may be repeated. */
const ALSO = [
  // Rows that are rewritten all the time need room for their next version on the same page.
  'alter table heads set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)',
  'alter table jobs set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)',
  'alter table deliveries set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05)',
  // For the check that notices missed wake-ups.
  "create index if not exists heads_ledgers on heads (space_id) where name = 'ledger'",
];

/**
 * For this transaction. What the role or the database may have been given is meant for ordinary statements. Not every
 * version knows all of them.
 */
export const NO_LIMITS = `select set_config(name, '0', true) from pg_settings where name in
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

/**
 * Whoever waits for a table holds up everybody who comes after, and a dump reads for hours. So we wait for less time than
 * the other replicas do, and for more than an autovacuum needs to notice us (`deadlock_timeout`, a second).
 */
const TABLES_WITHIN = "set local lock_timeout = '3s'";
const AGAIN_AFTER_MS = 5_000;

/**
 * Brings the schema to this program's version, in one transaction; other starting replicas wait for it. Those that run
 * go on, so it is repeated until none of the tables is held by somebody else.
 */
export async function migratePostgres(link: PgLink): Promise<void> {
  for (;;) {
    try {
      return await bringForward(link);
    } catch (reason) {
      if (!isCrossed(reason)) throw reason;
    }
    await sleep(AGAIN_AFTER_MS);
  }
}

async function bringForward(link: PgLink): Promise<void> {
  await link.exec('begin');
  try {
    await link.exec(NO_LIMITS);
    await link.execPatiently(`select pg_advisory_xact_lock(${LOCK})`);
    const version = await versionOf(link);
    refuseNewer(version);
    if (version < MIGRATIONS.length) await takeSteps(link, version);
    await link.exec('commit');
  } catch (reason) {
    await link.exec('rollback').catch(() => {});
    throw reason;
  }
}

async function takeSteps(link: PgLink, version: number): Promise<void> {
  await link.exec(TABLES_WITHIN);
  for (const step of MIGRATIONS.slice(version)) {
    for (const sql of step) await link.execPatiently(inPostgres(sql));
  }
  for (const sql of ALSO) await link.execPatiently(sql);
  await link.exec(`update lanternroom_schema set version = ${MIGRATIONS.length}`);
}

/** Text is compared byte by byte on both databases, whatever the locale of this one. */
export function inPostgres(sql: string): string {
  return sql
    .replaceAll('{bytes}', 'bytea')
    .replaceAll('{random}', RANDOM)
    .replace(/(\w+) text(?=[\s,)]|$)/g, '$1 text collate "C"');
}

type Found = { ours: string | null; heads: string | null; encoding: string };

async function versionOf(link: PgLink): Promise<number> {
  const { rows } = await link.query(
    `select to_regclass('lanternroom_schema') as ours, to_regclass('heads') as heads,
      current_setting('server_encoding') as encoding`,
    [],
  );
  const { ours, heads, encoding } = rows[0] as Found;
  if (ours !== null) {
    const found = await link.query('select version from lanternroom_schema', []);
    return (found.rows[0] as { version: number } | undefined)?.version ?? 0;
  }
  if (heads !== null) {
    throw new Error('This database holds tables of another program. Give Lanternroom a database of its own.');
  }
  // Later it is too late: the first name that does not fit would be an error nobody here can mend.
  if (encoding !== 'UTF8') {
    throw new Error(
      `This database stores text as ${encoding}, which cannot hold every character. Make another with "createdb --encoding=UTF8 --template=template0".`,
    );
  }
  await link.exec('create table lanternroom_schema (version bigint not null)');
  await link.exec('insert into lanternroom_schema (version) values (0)');
  return 0;
}

function refuseNewer(version: number): void {
  if (version <= MIGRATIONS.length) return;
  throw new Error(
    `The data was written by a newer Lanternroom (schema ${version}, this one knows ${MIGRATIONS.length}). Start the newer version, or restore a backup from before the upgrade.`,
  );
}

/** Three random UUIDs have 366 random bits; the digest turns them into 256 uniform ones, without an extension. */
const RANDOM = `encode(sha256(convert_to(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid()), 'UTF8')), 'hex')`;
