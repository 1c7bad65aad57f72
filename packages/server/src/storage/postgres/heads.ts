import type { HeadName } from '../../core/store.ts';
import type { Unit } from '../batch.ts';
import { type HeadCache, UNWRITTEN } from '../heads.ts';
import type { PgLink } from './link.ts';

export type Wanted = { spaces: string[]; names: HeadName[] };

/** Every head that these units named, once. */
export function wantedBy(units: readonly Unit[]): Wanted {
  const bySpace = new Map<string, Set<HeadName>>();
  for (const { space, heads } of units) {
    const seen = bySpace.get(space) ?? new Set();
    bySpace.set(space, seen);
    for (const name of heads) seen.add(name);
  }
  const wanted: Wanted = { spaces: [], names: [] };
  for (const [space, seen] of bySpace) {
    for (const name of seen) {
      wanted.spaces.push(space);
      wanted.names.push(name);
    }
  }
  return wanted;
}

// Sorted below the lock, so that everybody locks the rows in the same order and no deadlock is possible.
const LOCK = `select space_id, name, n, at, text, seal from heads
  where (space_id, name) in (select * from unnest($1::text[], $2::text[]))
  order by space_id, name for update`;

type Row = { space_id: string; name: HeadName; n: number; at: number; text: string; seal: string };

/** Locks the rows and puts them into the cache. False when some do not exist yet: only an existing row can be locked. */
export async function lockHeads(link: PgLink, wanted: Wanted, cache: HeadCache): Promise<boolean> {
  if (wanted.names.length === 0) return true;
  const rows = (await link.query(LOCK, [wanted.spaces, wanted.names])).rows as Row[];
  for (const { space_id, name, n, at, text, seal } of rows) {
    cache.preload(space_id, name, seal === UNWRITTEN ? null : { n, at, text });
  }
  return rows.length === wanted.names.length;
}

const MAKE = `insert into heads (space_id, name, n, at, text, seal)
  select s, h, 0, 0, '', '${UNWRITTEN}' from unnest($1::text[], $2::text[]) as wanted (s, h) order by s, h
  on conflict (space_id, name) do nothing`;

/** In a transaction of its own, so that nobody waits for a row that exists only to be locked. */
export async function makeHeads(link: PgLink, wanted: Wanted): Promise<void> {
  await link.query(MAKE, [wanted.spaces, wanted.names]);
}
