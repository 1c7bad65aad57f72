import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { type Postgres, startPostgres } from '../../scripts/postgres.mjs';
import { given } from './until.ts';

export type Cluster = {
  /** The server itself: to halt, to start again, to send signals to. */
  readonly server: Postgres;
  /** The address of a new, empty database. */
  database(): Promise<string>;
  /** One command, as the one who owns everything. */
  run(url: string, sql: string): Promise<Record<string, unknown>[]>;
};

/** A real PostgreSQL for the tests of one file. */
export function usePostgres(): Cluster {
  let server: Postgres | undefined;
  let made = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  return {
    get server() {
      return given(server, 'PostgreSQL yet');
    },
    async database() {
      const name = `replicas_${++made}`;
      await this.run(this.server.url(), `create database ${name}`);
      return this.server.url(name);
    },
    run: onDatabase,
  };
}

/** One command on a connection of its own. */
export async function onDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
