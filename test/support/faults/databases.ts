import type { Postgres } from '../../../scripts/postgres.mjs';
import { onDatabase } from '../postgres.ts';
import type { Databases } from './site.ts';

const NAME = 'struck';

/**
 * A database with a standby that has everything before anybody is told that it is stored. Failing over to a standby
 * without that loses what it had not received yet, with any program.
 */
export async function withStandby(primary: Postgres): Promise<Databases> {
  await onDatabase(primary.url(), `create database ${NAME}`);
  const standby = await primary.standby();
  await onDatabase(primary.url(), "alter system set synchronous_standby_names = '*'");
  await onDatabase(primary.url(), 'select pg_reload_conf()');
  return { primary, standby, name: NAME };
}
