import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string;
  }
}

const INT8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** One command on a connection of its own. */
export async function onDatabase(
  url: string,
  sql: string,
  values?: unknown[],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, types });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

export type TestDatabase = { url: string; drop(): Promise<void> };

/** A database and, once it was emptied, the connection that did it: a fresh one has everything about it to learn. */
type Lent = { url: string; cleaner: pg.Client | null };

const free: Lent[] = [];

/**
 * A migrated, empty database for one test. It is emptied afterwards and lent again: to make one takes a quarter of a
 * second, to drop one makes PostgreSQL write everything down.
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const lent = free.pop() ?? { url: await makeDatabase('lanternroom_template'), cleaner: null };
  return {
    url: lent.url,
    drop: async () => {
      // A test may have ended every connection there was.
      await empty(lent).catch(() => empty(Object.assign(lent, { cleaner: null })));
      free.push(lent);
    },
  };
}

async function empty(lent: Lent): Promise<void> {
  lent.cleaner ??= await cleanerOf(lent);
  await lent.cleaner.query('select pg_temp.empty()');
}

async function cleanerOf({ url }: Lent): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // whoever asks next is told
  await client.connect();
  const { rows } = await client.query<{ name: string }>(TABLES);
  const emptied = rows.map(({ name }) => `delete from ${name};`).join(' ');
  // A function's statements are planned once.
  await client.query(
    `create function pg_temp.empty() returns void language plpgsql as $$ begin ${emptied} end $$`,
  );
  return client;
}

/** One that nobody has been to. It goes with the server. */
export const bareDatabase = (): Promise<string> => makeDatabase('template1');

async function makeDatabase(template: string): Promise<string> {
  const admin = inject('postgres');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onDatabase(admin, `create database ${name} template ${template}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

const TABLES = `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'
  and tablename not in ('lanternroom_schema', 'id_keys')`;
