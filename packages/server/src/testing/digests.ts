import { hash } from 'node:crypto';
import type { World } from './world.ts';

/** What the server writes by itself, whether anybody asks or not. */
const BY_ITSELF = ['checkpoints', 'words'];

/** A digest of every table: two that are equal say that nothing was changed in between. */
export function digests(world: World): Record<string, string> {
  const { db } = world.running.ground.data.store.session;
  const tables = db.prepare("select name from sqlite_master where type = 'table'").raw().all() as [string][];
  const digest = (name: string) => {
    const rows = db.prepare(`select * from "${name}"`).raw().all() as unknown[][];
    return hash('sha256', JSON.stringify(rows.filter((row) => !row.includes('indexed'))));
  };
  return Object.fromEntries(tables.map(([name]) => [name, BY_ITSELF.includes(name) ? '' : digest(name)]));
}
