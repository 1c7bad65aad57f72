import { expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, checked, openStillWorld, openWorld, swept, type Told, told } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const UNKNOWN = '550e8400-e29b-41d4-a716-446655440000';
const NINE = '2026-11-15T09:00:00';

function pending(id: string) {
  return { delivery_id: id, status: 'pending', feedback: null, edited_content: null, responded_at: null };
}

it('[W14] nobody has answered: five fields, four of them empty', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const { status, headers, text } = await told(world.get(`/wake/v1/response/${id}`));
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(text).toBe(JSON.stringify(pending(id)));
});

it.each([
  ['approved', {}, { feedback: null, edited_content: null }],
  ['approved', { feedback: '' }, { feedback: null, edited_content: null }],
  ['rejected', { feedback: 'Not this week.' }, { feedback: 'Not this week.', edited_content: null }],
  [
    'redirected',
    { edited_content: 'Dear all,\n\n👋' },
    { feedback: null, edited_content: 'Dear all,\n\n👋' },
  ],
  [
    'redirected',
    { edited_content: { n: 1, list: [true, null] } },
    { feedback: null, edited_content: { n: 1, list: [true, null] } },
  ],
])('[W14] %s with %j has the same five fields', async (verdict, answer, wanted) => {
  const { world } = await openStillWorld(AT_ONCE);
  const id = await world.deliver();
  await world.decide(id, { status: verdict, ...answer });
  const { text } = await told(world.get(`/wake/v1/response/${id}`));
  const responded_at = `${NINE}.000001Z`;
  expect(text).toBe(JSON.stringify({ delivery_id: id, status: verdict, ...wanted, responded_at }));
});

it('[W14] an answer is the same bytes whenever it is read, also after a restart', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  await world.decide(id, { status: 'redirected', feedback: 'Shorter.', edited_content: { z: 1, a: 2 } });
  const first = await told(world.get(`/wake/v1/response/${id}`));
  await world.restart();
  expect((await told(world.get(`/wake/v1/response/${id}`))).text).toBe(first.text);
});

/** Everything of an answer that a stranger could compare, apart from counters and the clock. */
function shape({ status, text, headers }: Told) {
  const names = [...headers.keys()].sort();
  const fixed = names.filter((name) => name !== 'date' && name !== 'ratelimit-remaining');
  return { status, text, names, fixed: fixed.map((name) => headers.get(name)) };
}

/** Ids that are not this agent's: of another agent, of another space, of nobody, and of no form at all. */
async function foreignIds(world: World): Promise<string[]> {
  const other = await world.addAgent({ id: 'agent-02' });
  const space = await world.addSpace('elsewhere');
  const stranger = await world.addAgent({ id: 'agent-01', space: space.id });
  const malformed = [
    'x',
    'null',
    UNKNOWN.toUpperCase(),
    UNKNOWN.slice(1),
    `${UNKNOWN}0`,
    '..%2Fresponses',
    '%00',
    '%ZZ',
  ];
  return [
    await world.deliver({ agent_id: 'agent-02' }, other.key),
    await world.deliver({}, stranger.key),
    UNKNOWN,
    '550e8400-e29b-11d4-a716-446655440000',
    ...malformed,
    'x'.repeat(300),
    'x'.repeat(5000),
    '',
  ];
}

it('[W14] an id in capitals is the same UUID, for whoever reads, revises or withdraws', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const capitals = id.toUpperCase();
  expect(await (await world.get(`/wake/v1/response/${capitals}`)).json()).toEqual(pending(id));
  const second = await world.deliver({ revises: capitals });
  const { status, text } = await told(
    world.post(`/wake/v1/withdraw/${second.toUpperCase()}`, { reason: 'Done.' }),
  );
  expect([status, JSON.parse(text)]).toMatchObject([200, { delivery_id: second, status: 'rejected' }]);
});

it("[W14] unknown, malformed and another agent's ids answer alike, byte for byte", async () => {
  const world = await openWorld();
  const replies = [];
  for (const id of await foreignIds(world))
    replies.push(shape(await told(world.get(`/wake/v1/response/${id}`))));
  expect(replies[0]).toMatchObject({
    status: 404,
    text: `{"error":{"code":"not_found","message":"There is no delivery with this id for this key.","docs":"${world.url}/docs/errors#not_found"}}`,
  });
  for (const reply of replies) expect(reply).toEqual(replies[0]);
});

it('[W14] waiting for such an id answers alike too, and at once', async () => {
  const world = await openWorld();
  const replies = [];
  for (const id of await foreignIds(world)) {
    replies.push(shape(await told(world.get(`/wake/v1/response/${id}?wait=60`))));
  }
  for (const reply of replies) expect(reply).toEqual(replies[0]);
});

it('[W27] withdrawing such an id answers alike too, and changes nothing', async () => {
  const world = await openWorld();
  const ids = await foreignIds(world);
  const replies = [];
  for (const id of ids) {
    replies.push(shape(await told(world.post(`/wake/v1/withdraw/${id}`, { reason: 'Mine?' }))));
  }
  expect(replies[0]).toMatchObject({ status: 404 });
  for (const reply of replies) expect(reply).toEqual(replies[0]);
  const detail = await world.desk('GET', `/desk/deliveries/${ids[0]}`);
  expect(await detail.json()).toMatchObject({ status: 'pending', state: 'pending' });
});

it('[W14] a held or undone decision looks like none', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver();
  const before = await told(world.get(`/wake/v1/response/${id}`));
  expect(await (await world.decide(id, { status: 'approved' })).json()).toMatchObject({ state: 'held' });
  expect((await told(world.get(`/wake/v1/response/${id}`))).text).toBe(before.text);
  await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
  await world.tick(60 * SECOND);
  expect((await told(world.get(`/wake/v1/response/${id}`))).text).toBe(before.text);
  await world.decide(id, { status: 'rejected' });
  await world.tick(10 * SECOND);
  expect(await checked(world, id)).toMatchObject({
    status: 'rejected',
    responded_at: `2026-11-15T09:01:10.000000Z`,
  });
});

it('[W16] after its timeout a delivery stays pending and gains timed_out_at, at that very moment', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver({ timeout_seconds: 60 });
  await world.tick(60 * SECOND - 1);
  expect(await checked(world, id)).toEqual(pending(id));
  await world.tick(1);
  const timedOut = { ...pending(id), timed_out_at: '2026-11-15T09:01:00.000000Z' };
  const { text } = await told(world.get(`/wake/v1/response/${id}`));
  expect(text).toBe(JSON.stringify(timedOut));
  expect((await swept(world, 'status=pending')).deliveries).toEqual([timedOut]);
  const shown = await world.desk('GET', `/desk/deliveries/${id}`);
  expect(await shown.json()).toMatchObject({ status: 'pending', timed_out_at: timedOut.timed_out_at });
  await world.tick(3600 * SECOND);
  expect(await checked(world, id)).toEqual(timedOut);
});

it('[W16] without a timeout it waits for ever', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver({ timeout_seconds: null });
  await world.tick(3650 * 24 * 3600 * SECOND);
  expect(await checked(world, id)).toEqual(pending(id));
});

it('[W16] a late answer is still delivered, to poll and sweep, and no longer says timed out', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const id = await world.deliver({ timeout_seconds: 60 });
  const { next_since } = await swept(world, '');
  await world.tick(61 * SECOND);
  await world.decide(id, { status: 'approved', feedback: 'Sorry, late.' });
  const answer = {
    delivery_id: id,
    status: 'approved',
    feedback: 'Sorry, late.',
    edited_content: null,
    responded_at: '2026-11-15T09:01:01.000000Z',
  };
  expect(await checked(world, id)).toEqual(answer);
  expect((await swept(world, `since=${next_since}`)).deliveries).toEqual([answer]);
});
