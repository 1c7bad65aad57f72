import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, checked, openStillWorld, refusal, swept, told } from '../../testing/wake.ts';
import { World } from '../../testing/world.ts';

let shared: World;
beforeAll(async () => {
  shared = await World.open();
});
afterAll(() => shared.stop());

it.each([
  ['limit', '0'],
  ['limit', '201'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', 'all'],
  ['limit', ''],
  ['limit', '10&limit=20'],
  ['status', ''],
  ['status', 'done'],
  ['status', 'approved,'],
  ['status', 'approved;rejected'],
  ['status', 'APPROVED'],
  ['status', 'approved&status=rejected'],
  ['since', ''],
  ['since', 'yesterday'],
  ['since', '1773000000'],
  ['since', '2026-02-30T00:00:00Z'],
  ['since', '2026-13-01T00:00:00Z'],
  ['since', '2026-03-08T25:00:00Z'],
  ['since', '2026-03-08T12:00:00%2B24:00'],
  ['since', 'null'],
  ['since', '2026-03-08T12:00:00Z&since=2026-03-08T12:00:00Z'],
])('[W17] %s=%s is 422 and named', async (field, value) => {
  expect(await refusal(shared.get(`/wake/v1/responses?${field}=${value}`))).toEqual({
    status: 422,
    code: 'invalid_field',
    message: expect.any(String),
    field,
    docs: `${shared.url}/docs/errors#invalid_field`,
  });
});

it.each([
  'limit=1',
  'limit=200',
  'status=pending',
  'status=approved,rejected,redirected,pending',
  'status=approved,%20approved',
  'since=2026-03-08T11:55:00Z',
  'since=2026-03-08T11:55:00.123456789Z',
  'since=2026-03-08T13:55:00%2B02:00',
  'since=2026-03-08T13:55:00+02:00',
  'since=2026-03-08',
  'since=0001-01-01T00:00:00Z',
  'since=9999-12-31T23:59:59Z',
  'agent_id=agent-01',
  'unknown=1',
])('[W17] ?%s is fine', async (query) => {
  expect((await shared.get(`/wake/v1/responses?${query}`)).status).toBe(200);
});

async function deliverMany(world: World, count: number): Promise<string[]> {
  const ids = [];
  for (let i = 0; i < count; i++) ids.push(await world.deliver());
  return ids;
}

it('[W17] 50 without a limit, 200 at most', async () => {
  const { world } = await openStillWorld();
  const ids = await deliverMany(world, 201);
  const page = await swept(world, '');
  expect(page.deliveries.map((item) => item.delivery_id)).toEqual(ids.slice(0, 50));
  expect(page).toMatchObject({ total: 201, has_more: true });
  expect((await swept(world, 'limit=200')).deliveries).toHaveLength(200);
});

it('[W18] nothing yet: an empty page whose next_since is null, or since as it was given', async () => {
  const { world } = await openStillWorld();
  const empty = await told(world.get('/wake/v1/responses'));
  expect(empty.text).toBe('{"deliveries":[],"total":0,"has_more":false,"next_since":null}');
  expect(empty.headers.get('content-type')).toBe('application/json; charset=utf-8');
  for (const since of ['2026-03-08T13:55:00+02:00', '2026-03-08', '2026-03-08T11:55:00.1Z']) {
    const page = await swept(world, `since=${encodeURIComponent(since)}`);
    expect(page).toEqual({ deliveries: [], total: 0, has_more: false, next_since: since });
  }
});

it('[W18] items are the bytes of the single answer', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const [open, decided, withdrawn] = await deliverMany(world, 3);
  await world.decide(String(decided), {
    status: 'redirected',
    feedback: '"é"\n👋',
    edited_content: { b: 1, a: [null] },
  });
  await world.post(`/wake/v1/withdraw/${withdrawn}`, { reason: 'Done.' });
  const one = async (id: string | undefined) => (await told(world.get(`/wake/v1/response/${id}`))).text;
  const page = await told(world.get('/wake/v1/responses'));
  expect(page.text).toBe(
    `{"deliveries":[${await one(open)},${await one(decided)},${await one(withdrawn)}],"total":3,"has_more":false,"next_since":"2026-11-15T09:00:00.000004Z"}`,
  );
});

it('[W18] oldest change first, and an answer is a change', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const [a, b, c] = await deliverMany(world, 3);
  await world.decide(String(b), { status: 'approved' });
  await world.decide(String(a), { status: 'rejected' });
  const page = await swept(world, '');
  expect(page.deliveries.map((item) => item.delivery_id)).toEqual([c, b, a]);
  const answered = await swept(world, 'status=rejected,approved');
  expect(answered.deliveries.map((item) => item.status)).toEqual(['approved', 'rejected']);
});

it('[W18] reading, snoozing and holding do not count as changes', async () => {
  const { world } = await openStillWorld();
  const [a] = await deliverMany(world, 2);
  const before = await swept(world, '');
  await world.desk('POST', `/desk/deliveries/${a}/read`);
  await world.desk('POST', `/desk/deliveries/${a}/snooze`, { until: '2026-12-01T00:00:00Z' });
  await world.desk('POST', `/desk/deliveries/${a}/snooze`, { until: null });
  await world.decide(String(a), { status: 'approved' });
  expect(await swept(world, '')).toEqual(before);
  expect(await swept(world, `since=${before.next_since}`)).toMatchObject({ total: 0 });
});

it('[W18] total counts what matches this query, since included; has_more says whether the page has all of it', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const ids = await deliverMany(world, 7);
  for (const id of ids.slice(0, 4)) await world.decide(id, { status: 'approved' });
  expect(await swept(world, 'limit=3')).toMatchObject({ total: 7, has_more: true });
  expect(await swept(world, 'limit=7')).toMatchObject({ total: 7, has_more: false });
  expect(await swept(world, 'limit=8')).toMatchObject({ total: 7, has_more: false });
  expect(await swept(world, 'status=approved&limit=4')).toMatchObject({ total: 4, has_more: false });
  const first = await swept(world, 'status=approved&limit=3');
  expect(first).toMatchObject({ total: 4, has_more: true });
  const rest = await swept(world, `status=approved&limit=3&since=${first.next_since}`);
  expect(rest).toMatchObject({ total: 1, has_more: false });
  expect(await swept(world, 'status=pending,approved&limit=6')).toMatchObject({ total: 7, has_more: true });
});

it('[W18] since is a moment that lies before: what changed at that very stamp is not repeated', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const [a, b] = await deliverMany(world, 2);
  const at = (micros: number) => `2026-11-15T09:00:00.${String(micros).padStart(6, '0')}Z`;
  const ids = async (since: string) =>
    (await swept(world, `since=${since}`)).deliveries.map((d) => d.delivery_id);
  expect(await ids('2026-11-15T08:59:59.999999Z')).toEqual([a, b]);
  expect(await ids(at(0))).toEqual([b]);
  expect(await ids(at(1))).toEqual([]);
});

it('[W18] another agent, and another space, sees none of it', async () => {
  const { world } = await openStillWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const space = await world.addSpace('elsewhere');
  const stranger = await world.addAgent({ id: 'agent-01', space: space.id });
  await deliverMany(world, 2);
  for (const key of [other.key, stranger.key]) {
    expect(await swept(world, '', key)).toEqual({
      deliveries: [],
      total: 0,
      has_more: false,
      next_since: null,
    });
  }
});

it('[W19] a clock that goes back gives no stamp twice, and no smaller one', async () => {
  const { world, clock } = await openStillWorld(AT_ONCE);
  const [a, b] = await deliverMany(world, 2);
  const { next_since } = await swept(world, '');
  clock.turn(-3600 * SECOND);
  await world.decide(String(a), { status: 'approved' });
  await world.restart();
  await world.decide(String(b), { status: 'approved' });
  const page = await swept(world, `since=${next_since}`);
  expect(page.deliveries.map((item) => item.delivery_id)).toEqual([a, b]);
  expect((await checked(world, String(a))).responded_at).toBe('2026-11-15T09:00:00.000002Z');
  expect((await checked(world, String(b))).responded_at).toBe('2026-11-15T09:00:00.000003Z');
});
