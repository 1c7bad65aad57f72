import { expect, test } from 'vitest';
import { MIGRATIONS } from '../storage/migrations.ts';
import { openInbox, page } from '../testing/akep/akep.ts';
import { body } from '../testing/desk/desk.ts';

const TABLES = MIGRATIONS.flat().flatMap((sql) => /^create table (\w+)/.exec(sql)?.[1] ?? []);

test('[D25] a running server goes on when a newer version has brought its schema forward', async () => {
  const { world, sender } = await openInbox({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const work = async () => {
    const id = await world.deliver({ callback_webhook: null });
    expect((await world.decide(id, { status: 'approved', feedback: 'fine' })).status).toBe(200);
    expect((await sender.sent()).event_id).toBeDefined();
    return page(world);
  };
  await work();
  for (const table of TABLES) {
    await world.sql(`alter table ${table} add column from_the_future bigint not null default 7`);
    await world.sql(`alter table ${table} add column also_new text`);
    await world.sql(`create index ${table}_of_the_future on ${table} (from_the_future)`);
  }
  await world.sql('create table quite_new (space_id text not null, a bigint)');
  const { events } = await work();
  expect(events).toHaveLength(4); // two that were sent, and two decisions
  expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({ ok: true });
});
