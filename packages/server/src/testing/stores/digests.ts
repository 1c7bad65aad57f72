import { hash } from 'node:crypto';
import type { World } from '../world.ts';

/** Tables that the server writes to on its own, without any request. */
const BY_ITSELF = ['checkpoints', 'words'];

const TABLES = {
  sqlite: "select name from sqlite_master where type = 'table'",
  postgres: "select tablename as name from pg_tables where schemaname = 'public'",
};

/**
 * A digest of every table: if two are equal, nothing was changed in between. The first call stops the ticker, because
 * it writes "last seen" now and then, and that would look like a change by the request under test.
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
