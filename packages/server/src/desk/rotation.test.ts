import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resealAll } from '../core/resealing.ts';
import { newKey } from '../storage/sealing/master-key.ts';
import { notedKeys } from '../storage/sealing/sealed-by.ts';
import { MasterVault } from '../storage/vault.ts';
import { answered, openInbox, page } from '../testing/akep/akep.ts';
import { body } from '../testing/desk/desk.ts';
import { until } from '../testing/waiting.ts';
import { checked } from '../testing/wake.ts';
import type { World } from '../testing/world.ts';

const idOf = (key: string) => new MasterVault(Buffer.from(key)).keyId;
const secretOf = (world: World) => join(world.folder, 'secret.key');
const keysIn = (world: World) => readFileSync(secretOf(world), 'utf8').trim();
const putKeys = (world: World, ...keys: string[]) => writeFileSync(secretOf(world), `${keys.join('\n')}\n`);
const noted = (world: World) => notedKeys(world.room.store);

/** Everything that is sealed, walked once. */
async function walk(world: World): Promise<{ changed: number; damaged: string[] }> {
  const total = { changed: 0, damaged: [] as string[] };
  for await (const step of resealAll(world.room)) {
    total.changed += step.changed;
    total.damaged.push(...step.damaged);
  }
  return total;
}

/** What people and agents see, as text. */
async function seen(world: World, id: string, cursor: string): Promise<unknown[]> {
  await world.running.indexer.catchUp();
  const found = await body<{ deliveries: { delivery_id: string }[] }>(
    world.desk('GET', '/desk/deliveries?q=persimmon'),
  );
  return [
    await body(world.desk('GET', `/desk/deliveries/${id}`)),
    await checked(world, id),
    found.deliveries.map((d) => d.delivery_id),
    (await page(world, `?cursor=${cursor}`)).events,
    (await body<{ ok: boolean }>(world.desk('GET', '/desk/audit/verify'))).ok,
  ];
}

test('[D85] a new master key takes over while the server works, and then the old one is not needed', async () => {
  const { world, sender } = await openInbox({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const id = await world.deliver({ details: { fruit: 'persimmon' } });
  const open = await world.deliver();
  await world.desk('PUT', `/desk/deliveries/${open}/draft`, { feedback: 'half a thought' });
  await world.decide(id, { status: 'redirected', feedback: 'go on', edited_content: { n: 1.5 } });
  await sender.sent();
  const cursor = (await page(world)).next_cursor;
  const event = await sender.sent();
  const before = await seen(world, id, cursor);
  expect(before).toMatchObject([{ delivery_id: id }, { feedback: 'go on' }, [id], [event], true]);

  const [old, next] = [keysIn(world), newKey()];
  await world.restart(() => putKeys(world, next, old));
  await until(async () => (await noted(world)).join() === idOf(next));
  expect(await seen(world, id, cursor)).toEqual(before);
  await world.restart(() => putKeys(world, next));
  expect(await walk(world)).toEqual({ changed: 0, damaged: [] });
  expect(await seen(world, id, cursor)).toEqual(before);
  expect(await body(world.desk('GET', `/desk/deliveries/${open}`))).toMatchObject({
    draft: { feedback: 'half a thought' },
  });
  // A producer's secret was sealed too, and its next event continues where the earlier ones stopped.
  await sender.sent();
  expect((await answered(world.get('/akep/events/wait?timeout_seconds=0'))).status).toBe(200);

  // A second change builds on the first.
  const third = newKey();
  await world.restart(() => putKeys(world, third, next));
  await until(async () => (await noted(world)).join() === idOf(third));
  await world.restart(() => putKeys(world, third));
  expect((await seen(world, id, cursor)).slice(0, 3)).toEqual(before.slice(0, 3));
  expect(await walk(world)).toEqual({ changed: 0, damaged: [] });
});

test('[D85][R1] a replica that starts when another has replaced the key brings its own file of checkpoints along', async () => {
  const { world } = await openInbox();
  const file = join(world.folder, 'ledger.checkpoints');
  await world.deliver();
  await world.restart();
  const [old, next] = [keysIn(world), newKey()];
  const ofOther = readFileSync(file, 'utf8');
  await world.restart(() => putKeys(world, next, old));
  await until(async () => (await noted(world)).join() === idOf(next));
  await world.restart(() => writeFileSync(file, ofOther));
  await until(async () => !readFileSync(file, 'utf8').startsWith(ofOther));
  await world.restart(() => putKeys(world, next));
  expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({ ok: true, problems: [] });
});

test('[D85] a second key after the first opens and does not seal', async () => {
  const { world } = await openInbox();
  await world.deliver();
  const [old, next] = [keysIn(world), newKey()];
  await world.restart(() => putKeys(world, old, next));
  await world.deliver();
  expect(await noted(world)).toEqual([idOf(old)]);
  await world.restart(() => putKeys(world, old));
  expect(await walk(world)).toEqual({ changed: 0, damaged: [] });
});

test('[D85] without the old key a change that is not finished is refused', async () => {
  const { world } = await openInbox();
  await world.deliver();
  const [old, next] = [keysIn(world), newKey()];
  await expect(world.restart(() => putKeys(world, next))).rejects.toThrow(/not the master key/);
  await world.restart(() => putKeys(world, old));
  expect(await noted(world)).toEqual([idOf(old)]);
});
