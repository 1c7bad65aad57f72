import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../../../../scripts/postgres.mjs';
import { PostgresStore } from '../../storage/postgres.ts';
import { MasterVault } from '../../storage/vault.ts';
import { onDatabase } from './postgres.ts';

const TEMPLATE = 'lanternroom_template';

/** One real PostgreSQL for a run of the tests; each test copies its database from a migrated one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const url = server.url();
  await onDatabase(url, `create database ${TEMPLATE}`);
  const vault = new MasterVault(Buffer.from('only its schema is used'));
  const store = await PostgresStore.open({ url: server.url(TEMPLATE), sealer: vault, sealHead: vault.mac });
  await store.stop();
  project.provide('postgres', url);
  return () => server.stop();
}
