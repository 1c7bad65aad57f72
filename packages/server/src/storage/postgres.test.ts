import { freshDatabase, onDatabase } from '../testing/postgres/postgres.ts';
import { describeStore, type OpenStore } from './contract.ts';
import { PostgresStore } from './postgres.ts';
import { MasterVault } from './vault.ts';

// Every row carries the transaction that wrote it.
const COMMITS = `select count(distinct xmin)::int as n from
  (select xmin::text from ledger union all select xmin::text from heads where seal <> '') as rows`;

async function open(): Promise<OpenStore> {
  const { url, drop } = await freshDatabase();
  const vault = new MasterVault(Buffer.from('a master key for tests'));
  const store = await PostgresStore.open({ url, sealer: vault, sealHead: vault.mac });
  return {
    store,
    commits: async () => Number((await onDatabase(url, COMMITS))[0]?.n),
    stop: async () => {
      await store.stop();
      await drop();
    },
  };
}

describeStore('PostgreSQL', open);
