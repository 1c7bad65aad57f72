import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshFolder } from '../../../testing/folders.ts';
import { SqliteStore } from '../../sqlite.ts';
import type { Session, Statement } from '../../statement.ts';
import { MasterVault } from '../../vault.ts';
import { Bodies } from '../events/bodies.ts';
import { removeAgent } from './remove-agent.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));

const NAMES_AN_AGENT = `select m.name as name from sqlite_master m, pragma_table_info(m.name) c
  where m.type = 'table' and c.name = 'agent_id' order by m.name`;

/** Notes which tables are emptied, and empties none. */
class Noting implements Session {
  readonly emptied = new Set<string>();

  async all<R>(): Promise<R[]> {
    return [];
  }

  async one(): Promise<undefined> {
    return undefined;
  }

  async run<P extends object, R>(statement: Statement<P, R>): Promise<number> {
    const { sql } = statement.compile('sqlite');
    this.emptied.add(/^delete from "(\w+)"/.exec(sql)?.[1] ?? sql);
    return 0;
  }
}

test('[D40] every table that names its agent is emptied of an agent that is removed', async () => {
  const file = join(freshFolder(), 'store.db');
  const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
  onTestFinished(() => store.stop());
  const named = store.session.db.prepare(NAMES_AN_AGENT).all() as { name: string }[];
  const session = new Noting();
  await removeAgent(session, 'sp_1', 'agent-01', new Bodies(session, vault));
  const stays = named.map(({ name }) => name).filter((name) => !session.emptied.has(name));
  // A blob may be used by others; one that nobody uses leaves by age.
  expect(stays).toEqual(['blobs']);
});
