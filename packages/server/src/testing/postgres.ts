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

const free: string[] = [];

/**
 * A migrated, empty database for one test. It is emptied afterwards and lent again: to make one takes a quarter of a
 * second, to drop one makes PostgreSQL write everything down.
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const url = free.pop() ?? (await makeDatabase('lanternroom_template'));
  return {
    url,
    drop: async () => {
      await onDatabase(url, EMPTY);
      free.push(url);
    },
  };
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

const EMPTY = `do $$ declare t text; begin
  for t in select tablename from pg_tables where schemaname = 'public'
      and tablename not in ('lanternroom_schema', 'id_keys') loop
    execute format('delete from %I', t);
  end loop;
end $$`;
