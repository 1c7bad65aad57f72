import { hash } from 'node:crypto';
import type { World } from './world.ts';

/** What the server writes by itself, whether anybody asks or not. */
const BY_ITSELF = ['checkpoints', 'words'];

const TABLES = {
  sqlite: "select name from sqlite_master where type = 'table'",
  postgres: "select tablename as name from pg_tables where schemaname = 'public'",
};

/**
 * A digest of every table: two that are equal say that nothing was changed in between. From the first on nothing happens
 * by the clock any more: "last seen" is written every now and then, and would look like a change by whoever asked.
 */
export async function digests(world: World): Promise<Record<string, string>> {
  await world.running.ticker.stop();
  const tables = await world.sql(world.database === null ? TABLES.sqlite : TABLES.postgres);
  const found: Record<string, string> = {};
  for (const { name } of tables as { name: string }[]) {
    found[name] = BY_ITSELF.includes(name) ? '' : await digestOf(world, name);
  }
  return found;
}

async function digestOf(world: World, table: string): Promise<string> {
  const rows = (await world.sql(`select * from "${table}"`)).map((row) => JSON.stringify(row));
  // A row that is written again may stand elsewhere, and is the same row.
  return hash(
    'sha256',
    rows
      .filter((row) => !row.includes('"indexed"'))
      .sort()
      .join('\n'),
  );
}
