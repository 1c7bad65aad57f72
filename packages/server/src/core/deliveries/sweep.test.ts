import { expect, test } from 'vitest';
import { AT_ONCE, openStillWorld } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';
import type { Room } from '../room.ts';
import type { Status } from './delivery.ts';
import { type SweepQuery, sweep } from './sweep.ts';

const ANSWERED: Status[] = ['approved', 'rejected', 'redirected'];

/** The same room, in which something else is committed after each read of a status: as another replica may do. */
function interrupted(room: Room, commit: (status: Status) => Promise<unknown>): Room {
  const read: Room['store']['read'] = (space, work) =>
    room.store.read(space, (tx) => {
      const changed: typeof tx.deliveries.changed = async (agent, status, since, limit) => {
        const rows = await tx.deliveries.changed(agent, status, since, limit);
        await commit(status);
        return rows;
      };
      return work({ ...tx, deliveries: { ...tx.deliveries, changed } });
    });
  return {
    ...room,
    store: { ...room.store, directory: room.store.directory, write: room.store.write, read },
  };
}

function idsOf(items: readonly string[]): string[] {
  return items.map((item) => JSON.parse(item).delivery_id);
}

async function deliverMany(world: World, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => world.deliver()));
}

test.each([50, 1])(
  '[W19] answers committed while a page of %i is read are missed by no later page',
  async (limit) => {
    const { world } = await openStillWorld(AT_ONCE);
    const ids = await deliverMany(world, 12);
    const waiting = [...ids];
    const decideNext = async (status: Status) => {
      const [mine, other] = [waiting.pop(), waiting.pop()];
      if (mine !== undefined) await world.decide(mine, { status });
      if (other !== undefined)
        await world.decide(other, { status: status === 'redirected' ? 'approved' : 'redirected' });
    };
    const room = interrupted(world.room, decideNext);
    const query: SweepQuery = { agent: 'agent-01', statuses: ANSWERED, since: null, limit };
    const seen: string[] = [];
    for (
      let page = await sweep(room, world.space.id, query);
      ;
      page = await sweep(room, world.space.id, query)
    ) {
      seen.push(...idsOf(page.items));
      expect(page.total).toBeGreaterThanOrEqual(page.items.length);
      if (page.items.length === 0 && waiting.length === 0 && page.total === 0) break;
      query.since = page.lastChange ?? query.since;
    }
    expect(seen).toHaveLength(12);
    expect(seen.sort()).toEqual([...ids].sort());
  },
);

test('[W18] an empty page never says that there is more', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const [id = ''] = await deliverMany(world, 1);
  const room = interrupted(world.room, async (status) => {
    if (status === 'approved') await world.decide(id, { status: 'rejected' });
  });
  const query: SweepQuery = { agent: 'agent-01', statuses: ANSWERED, since: null, limit: 1 };
  expect(await sweep(room, world.space.id, query)).toEqual({ items: [], total: 0, lastChange: null });
  expect(await sweep(world.room, world.space.id, query)).toMatchObject({ total: 1 });
});
