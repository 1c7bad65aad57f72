import { Whereabouts } from '../postgres/lane.ts';
import type { PgLink } from '../postgres/link.ts';
import { NO_LIMITS } from '../postgres/migrate.ts';
import { shownUrl } from '../postgres/open.ts';
import type { End, Layout, Row } from './end.ts';

const COMPANY = `select count(*)::int as n from pg_stat_activity where application_name = 'lanternroom'
  and datname = current_database() and pid <> pg_backend_pid()`;

/** A PostgreSQL as one side of a move. */
export class PostgresEnd implements End {
  readonly name: string;
  readonly #link: PgLink;

  private constructor(name: string, link: PgLink) {
    this.name = name;
    this.#link = link;
  }

  static async open(url: string): Promise<PostgresEnd> {
    const link = await new Whereabouts(url, () => {}).connect(() => {});
    return new PostgresEnd(shownUrl(url), link);
  }

  async lock(tables: readonly Layout[]): Promise<void> {
    await this.#refuseCompany();
    // Open until everything was compared, which takes longer than an ordinary transaction may.
    await this.#link.exec(`begin; ${NO_LIMITS}; set local lock_timeout = '10s'`);
    const names = tables.map(({ name }) => `"${name}"`).join(', ');
    await this.#link.exec(`lock table ${names} in exclusive mode`);
  }

  /** Tried a few times: a server that was just stopped may still be disconnecting. */
  async #refuseCompany(): Promise<void> {
    for (let left = 20; ; left--) {
      const { rows } = await this.#link.exec(COMPANY);
      if ((rows[0] as { n: number }).n === 0) return;
      if (left === 0)
        throw new Error(
          `A server is running on ${this.name}. Stop all replicas first; if they are stopped, a pooler still holds their connections.`,
        );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async unlock(): Promise<void> {
    await this.#link.exec('commit');
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#link.execPatiently(numbered(sql), [...values])).rows;
  }

  async run(sql: string, values: readonly unknown[] = []): Promise<void> {
    await this.#link.execPatiently(numbered(sql), [...values]);
  }

  async refuseChanges(tables: readonly Layout[], sentence: string): Promise<void> {
    await this.#link.exec(`create or replace function lanternroom_moved() returns trigger language plpgsql as
      $$ begin raise exception '%', '${sentence.replaceAll("'", "''")}'; end $$`);
    for (const { name } of tables) {
      await this.#link.exec(`create or replace trigger lanternroom_moved before insert or update or delete
        on "${name}" execute function lanternroom_moved()`);
    }
  }

  async close(): Promise<void> {
    await this.#link.close();
  }
}

function numbered(sql: string): string {
  let place = 0;
  return sql.replaceAll('?', () => `$${++place}`);
}
