import { expect, test } from 'vitest';
import { body, openDesk } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

type Page = { entries: { seq: number; action: string; subject: string }[]; next_cursor: string | null };

function page(world: World, query: string): Promise<Page> {
  return body<Page>(world.desk('GET', `/desk/audit?${query}`));
}

test('[D52] by action, by group of actions, and by subject', async () => {
  const { world } = await openDesk();
  const first = await world.deliver();
  const second = await world.deliver();
  await world.decide(first, { status: 'approved' });
  await world.desk('DELETE', `/desk/deliveries/${first}/decision`);
  const actions = async (query: string) => (await page(world, query)).entries.map((e) => e.action);
  expect(await actions('action=decision')).toEqual(['decision.undone', 'decision.held']);
  expect(await actions('action=decision.held')).toEqual(['decision.held']);
  expect(await actions('action=decisio')).toEqual([]);
  expect(await actions('action=%25')).toEqual([]);
  expect(await actions(`subject=${second}`)).toEqual(['delivery.accepted']);
  expect(await actions(`subject=${first}&action=delivery`)).toEqual(['delivery.accepted']);
});

test('[D52] names the people in its lines, with and without a filter', async () => {
  const { world } = await openDesk();
  await world.decide(await world.deliver(), { status: 'approved' });
  for (const query of ['limit=50', 'action=decision']) {
    const read = await body<{ entries: { actor: string }[]; people: Record<string, string> }>(
      world.desk('GET', `/desk/audit?${query}`),
    );
    const [first] = read.entries;
    expect(read.people[first?.actor ?? '']).toBe(world.owner.name);
    expect(Object.keys(read.people)).toEqual([first?.actor]);
  }
});

test('[D52] pages of a filter neither skip nor repeat', async () => {
  const { world } = await openDesk();
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    ids.push(await world.deliver());
    await world.desk('POST', '/desk/sat');
  }
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const next: Page = await page(
      world,
      `action=delivery.accepted&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    seen.push(...next.entries.map((e) => e.subject));
    cursor = next.next_cursor;
  }
  expect(seen).toEqual([...ids].reverse());
});

test('[D61] a page says how far it looked, also when it found nothing', async () => {
  const { world } = await openDesk();
  for (let i = 0; i < 5; i++) await world.deliver();
  type Looked = Page & { looked_to: number };
  const read = (query: string) => body<Looked>(world.desk('GET', `/desk/audit?${query}`));
  expect(await read('action=nothing.such')).toMatchObject({ entries: [], next_cursor: null, looked_to: 1 });
  const some = await read('action=delivery.accepted&limit=2');
  expect(some.looked_to).toBe(some.entries.at(-1)?.seq);
  expect(some.next_cursor).toBe(String(some.looked_to));
  const plain = await read('limit=3');
  expect(plain.looked_to).toBe(plain.entries.at(-1)?.seq);
});

test('[D52] remembers what the last verification found, for each space on its own', async () => {
  type Verified = { ok: boolean; entries: number; verified_at: string };
  const { world } = await openDesk();
  const read = (token?: string) =>
    body<{ verified: Verified | null }>(world.desk('GET', '/desk/audit', undefined, token));
  expect((await read()).verified).toBeNull();
  await world.deliver();
  const found = await body<Verified>(world.desk('GET', '/desk/audit/verify'));
  expect(found.ok).toBe(true);
  expect((await read()).verified).toEqual(found);
  await world.deliver();
  expect((await read()).verified).toEqual(found);
  const space = await world.addSpace('elsewhere');
  const stranger = await world.addPerson('s@example.com', 'owner', space);
  expect((await read(stranger.token)).verified).toBeNull();
  await world.restart();
  expect((await read()).verified).toBeNull();
});
