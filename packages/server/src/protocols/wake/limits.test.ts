import { expect, it } from 'vitest';
import { addKey } from '../../core/agents/keys.ts';
import { orThrow } from '../../core/faults.ts';
import { HOUR, SECOND } from '../../core/time.ts';
import { draft, openStillWorld, refusal, told } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

/** 20 an hour is one token every three minutes. */
const TEST_RATE = { LANTERNROOM_RATE_TEST: '20/5', LANTERNROOM_RATE_LIVE: '500/50' };
const DELIVER = '/wake/v1/deliver';

type Bucket = [limit: string | null, remaining: string | null, reset: string | null];

function bucketOf({ headers }: { headers: Headers }): Bucket {
  return [headers.get('ratelimit-limit'), headers.get('ratelimit-remaining'), headers.get('ratelimit-reset')];
}

function send(world: World, over: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  return told(world.post(DELIVER, draft(world, over), undefined, headers));
}

async function drain(world: World, count: number, key?: string): Promise<void> {
  for (let i = 0; i < count; i++) await world.deliver({}, key);
}

it('[W5] a test key has a burst of 5, then 429 with Retry-After, and one more after those seconds', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  for (const left of [4, 3, 2, 1, 0]) {
    const reply = await send(world);
    expect(reply.status).toBe(201);
    expect(bucketOf(reply)).toEqual(['5', String(left), String((5 - left) * 180)]);
  }
  const over = await send(world);
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '180']);
  expect(bucketOf(over)).toEqual(['5', '0', '900']);
  expect(JSON.parse(over.text)).toEqual({
    error: {
      code: 'rate_limited',
      message: expect.stringContaining('20 times an hour (burst 5). Wait 180 s'),
      docs: `${world.url}/docs/errors#rate_limited`,
    },
  });
  await world.tick(180 * SECOND - 1);
  const early = await send(world);
  expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1']);
  await world.tick(1);
  expect((await send(world)).status).toBe(201);
  expect((await send(world)).status).toBe(429);
});

it('[W5] an hour gives a test key 20 deliveries, and never more than the burst at once', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  await drain(world, 5);
  let accepted = 0;
  for (let i = 0; i < 60; i++) {
    await world.tick(HOUR / 60);
    if ((await send(world)).status === 201) accepted++;
  }
  expect(accepted).toBe(20);
  await world.tick(24 * HOUR);
  await drain(world, 5);
  expect((await send(world)).status).toBe(429);
});

it('[W5] a live key has 500 an hour with a burst of 50', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  const { key } = await world.addAgent({ id: 'live', tier: 'live' });
  const deliver = () => told(world.post(DELIVER, draft(world, { agent_id: 'live' }), key));
  const replies = await Promise.all(Array.from({ length: 51 }, deliver));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(50);
  const over = replies.find(({ status }) => status === 429);
  expect(over?.headers.get('retry-after')).toBe('8');
  await world.tick(8 * SECOND);
  expect((await deliver()).status).toBe(201);
});

it('[W5] the limits are configurable, and each key has its own bucket', async () => {
  const { world } = await openStillWorld({ LANTERNROOM_RATE_TEST: '3600/1' });
  const at = { space: world.space.id, agent: 'agent-01', tier: 'test' as const, rotate: false };
  const second = orThrow(await addKey(world.room, at, 'test'));
  await drain(world, 1);
  expect(await send(world)).toMatchObject({ status: 429 });
  await drain(world, 1, second.key);
  await world.tick(SECOND);
  expect((await send(world)).status).toBe(201);
});

it('[W5] what is refused costs nothing, and its answer tells how much is left', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  await drain(world, 1);
  const refused = [
    world.post(DELIVER, '{'),
    world.post(DELIVER, '[]'),
    world.post(DELIVER, { agent_id: 'agent-01' }),
    world.post(DELIVER, draft(world, { agent_id: 'agent-02' })),
    world.post(DELIVER, draft(world, { headline: 'x'.repeat(121) })),
    world.post(DELIVER, draft(world, { revises: '550e8400-e29b-41d4-a716-446655440000' })),
    world.post(DELIVER, draft(world, { callback_webhook: 'https://example.com/' })),
    world.post(DELIVER, draft(world, { details: { key: `ghp_${'a1B2'.repeat(9)}` } })),
    world.post(DELIVER, draft(world), undefined, { 'content-type': 'text/plain' }),
    world.post(DELIVER, draft(world), undefined, { 'content-encoding': 'gzip' }),
    world.post(DELIVER, draft(world), undefined, { 'idempotency-key': 'x'.repeat(256) }),
    world.post(DELIVER, draft(world, { details: 'x'.repeat(1024 * 1024) })),
    world.get(DELIVER),
  ];
  const replies = await Promise.all(refused.map(told));
  for (const reply of replies) expect(bucketOf(reply)).toEqual(['5', '4', '180']);
  const statuses = replies.map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 400, 403, 422, 422, 422, 422, 415, 415, 422, 413, 405]);
  await drain(world, 4);
});

it('[W5] a refusal for the limit costs nothing either, and an idempotent repeat works without a token', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  const first = await send(world, {}, { 'idempotency-key': 'one' });
  await drain(world, 4);
  for (let i = 0; i < 10; i++) expect((await send(world)).status).toBe(429);
  const again = await send(world, {}, { 'idempotency-key': 'one' });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(bucketOf(again)).toEqual(['5', '0', '900']);
  expect((await send(world, { summary: 'Other' }, { 'idempotency-key': 'one' })).status).toBe(409);
  await world.tick(180 * SECOND);
  await drain(world, 1);
});

it('[W5] a deduplicated delivery costs nothing', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  await send(world, { dedupe_key: 'k' });
  const again = await send(world, { dedupe_key: 'k' });
  expect(again.status).toBe(200);
  expect(bucketOf(again)).toEqual(['5', '4', '180']);
});

it('[W5] the bucket survives a restart', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  await drain(world, 5);
  await world.restart();
  expect((await send(world)).status).toBe(429);
  await world.tick(180 * SECOND);
  await world.restart();
  expect((await send(world)).status).toBe(201);
  expect((await send(world)).status).toBe(429);
});

it('[W5] a burst at one moment takes exactly what is there', async () => {
  const { world } = await openStillWorld(TEST_RATE);
  const replies = await Promise.all(Array.from({ length: 20 }, () => send(world)));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(5);
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
});

it('[W5] every authenticated read tells its own bucket, also when it is refused', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver();
  const reads = [
    world.get(`/wake/v1/response/${id}`),
    world.get('/wake/v1/responses'),
    world.get('/.well-known/wake.json'),
    world.get('/wake/v1/response/nonsense'),
    world.get('/wake/v1/responses?limit=0'),
    world.get('/wake/v1/responses?agent_id=agent-02'),
    world.post('/wake/v1/responses', {}),
    world.post('/wake/v1/withdraw/nonsense', '{'),
    world.post(`/wake/v1/withdraw/${id}`, {}, undefined, { 'content-type': 'text/plain' }),
    world.post(`/wake/v1/withdraw/${id}`, { reason: 'Not needed.' }),
  ];
  for (const reply of await Promise.all(reads.map(told))) {
    const [limit, remaining, reset] = bucketOf(reply);
    expect([limit, reset]).toEqual(['2000', '1']);
    expect(Number(remaining)).toBeGreaterThanOrEqual(1990);
  }
});

it('[W5] a key reads 2 000 times in one moment, then 429 with its bucket; another key is not held up', async () => {
  const { world } = await openStillWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const read = () => told(world.get('/wake/v1/responses'));
  let worst = 200;
  for (let batch = 0; batch < 20; batch++) {
    const replies = await Promise.all(Array.from({ length: 100 }, read));
    worst = Math.max(worst, ...replies.map(({ status }) => status));
  }
  expect(worst).toBe(200);
  const over = await read();
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1']);
  expect(bucketOf(over)).toEqual(['2000', '0', '2']);
  expect((await world.get('/wake/v1/responses', other.key)).status).toBe(200);
  expect((await send(world)).status).toBe(201);
  await world.tick(SECOND);
  expect(bucketOf(await read())).toEqual(['2000', '999', '2']);
});

it('[W5] nobody without a key is told of any bucket', async () => {
  const { world } = await openStillWorld();
  const refused = await told(world.post(DELIVER, draft(world), 'wk_test_nobody'));
  expect(bucketOf(refused)).toEqual([null, null, null]);
  expect(await refusal(world.get('/wake/v2/deliver'))).toMatchObject({ status: 404 });
});
