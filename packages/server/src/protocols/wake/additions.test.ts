import { expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import {
  AT_ONCE,
  checked,
  client,
  draft,
  openStillWorld,
  openWorld,
  refusal,
  swept,
  told,
} from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
const UNKNOWN = '550e8400-e29b-41d4-a716-446655440000';

type Shown = Record<string, unknown> & { delivery_id: string };

async function shown(world: World, id: string): Promise<Shown> {
  return (await (await world.desk('GET', `/desk/deliveries/${id}`)).json()) as Shown;
}

it('[W25] an unknown major version is 404 and lists what is spoken, whatever the request holds', async () => {
  const world = await openWorld();
  const wanted = {
    status: 404,
    code: 'unsupported_version',
    message: 'This server does not speak WAKE v2. Use v1.',
    docs: `${world.url}/docs/errors#unsupported_version`,
    supported: ['v1'],
  };
  expect(await refusal(world.post('/wake/v2/deliver', draft(world)))).toEqual(wanted);
  expect(await refusal(world.get('/wake/v2'))).toEqual(wanted);
  expect(await refusal(world.get('/wake/v2/responses?limit=1'))).toEqual(wanted);
  expect(
    await refusal(world.post('/wake/v2/deliver', 'x', 'no key', { 'content-type': 'application/cbor' })),
  ).toEqual(wanted);
  expect(await refusal(world.post('/wake/v2/deliver', '{'))).toEqual(wanted);
  expect(await refusal(world.get('/wake/v10/responses'))).toMatchObject({ supported: ['v1'] });
});

it('[W25] an unknown address of a known version is a plain 404', async () => {
  const world = await openWorld();
  for (const path of [
    '/wake/v1',
    '/wake/v1/',
    '/wake/v1/deliveries',
    '/wake/latest/deliver',
    '/wake/v1/deliver/',
  ]) {
    const refused = await refusal(world.get(path));
    expect(refused).toMatchObject({ status: 404, code: 'not_found' });
    expect(refused).not.toHaveProperty('supported');
  }
});

it('[W25] the well-known document lists versions, limits and extensions, and tells a caller who it is', async () => {
  const world = await openWorld({ env: { LANTERNROOM_RATE_TEST: '20/5' } });
  const card = async (headers: Record<string, string>) =>
    (await fetch(`${world.url}/.well-known/wake.json`, { headers })).json();
  const open = {
    name: 'lanternroom',
    versions: ['v1'],
    endpoint: `${world.url}/wake/v1`,
    limits: {
      body_bytes: 1_048_576,
      agent_id: 128,
      provider: 128,
      headline: 120,
      summary: 280,
      reference: 128,
      reason: 500,
      timeout_seconds: [60, 604_800],
      sweep: 200,
      wait_seconds: 60,
      idempotency_key: 255,
      deliveries: { test: { per_hour: 20, burst: 5 }, live: { per_hour: 500, burst: 50 } },
    },
    extensions: expect.arrayContaining(['wait', 'idempotency-key', 'withdraw', 'revises', 'dedupe_key']),
  };
  expect(await card({})).toEqual(open);
  const authorization = `Bearer ${world.agent.key}`;
  expect(await card({ authorization })).toEqual({ ...open, agent_id: 'agent-01', tier: 'test' });
});

it('[W25] a wrong key is 401 there too, instead of a stranger’s document', async () => {
  const world = await openWorld();
  const reply = await world.get('/.well-known/wake.json', 'wk_test_wrong');
  expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="wake"']);
});

it('[W26] task, thread and interrupt ids are kept and shown to the person', async () => {
  const world = await openWorld();
  const ids = { task_id: 't'.repeat(128), thread_id: 'thread-7', interrupt_id: '🦉'.repeat(128) };
  expect(await shown(world, await world.deliver(ids))).toMatchObject(ids);
  const none = { task_id: null, thread_id: null, interrupt_id: null };
  expect(await shown(world, await world.deliver())).toMatchObject(none);
});

it('[W26] a revision takes the place of the earlier one on the desk, which stays pending on the wire', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const first = await world.deliver();
  const second = await world.deliver({ revises: first, summary: 'Now with sources.' });
  expect(await shown(world, first)).toMatchObject({
    state: 'superseded',
    superseded_by: second,
    revision: 1,
  });
  expect(await shown(world, second)).toMatchObject({ state: 'pending', revises: first, revision: 2 });
  const open = (await (await world.desk('GET', '/desk/deliveries')).json()) as { deliveries: Shown[] };
  expect(open.deliveries.map((row) => row.delivery_id)).toEqual([second]);
  expect(await checked(world, first)).toMatchObject({ status: 'pending' });
  expect(await refusal(world.decide(first, { status: 'approved' }))).toMatchObject({
    status: 409,
    code: 'superseded',
  });
  expect((await world.decide(second, { status: 'approved' })).status).toBe(200);
});

it('[W26] whoever names the first one again and again is led to the newest in one step', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const first = await world.deliver();
  const second = await world.deliver({ revises: first });
  const third = await world.deliver({ revises: first });
  const fourth = await world.deliver({ revises: first });
  const leadsTo = async (id: string) => (await shown(world, id)).superseded_by;
  expect(await Promise.all([first, second, third, fourth].map(leadsTo))).toEqual([
    fourth,
    third,
    fourth,
    null,
  ]);
  expect(await shown(world, fourth)).toMatchObject({ revises: third, revision: 4 });
});

it('[W26] revising what a person has answered, or is about to, does not undo the answer', async () => {
  const { world } = await openStillWorld();
  const held = await world.deliver();
  await world.decide(held, { status: 'approved' });
  await world.deliver({ revises: held });
  await world.tick(10 * SECOND);
  expect(await checked(world, held)).toMatchObject({ status: 'approved' });
  await world.deliver({ revises: held });
  expect(await checked(world, held)).toMatchObject({ status: 'approved' });
});

it('[W26] a decision that is undone after a revision came leaves one open row, and one for its dedupe_key', async () => {
  const { world } = await openStillWorld();
  const first = await world.deliver({ dedupe_key: 'daily' });
  await world.decide(first, { status: 'approved' });
  const second = await world.deliver({ revises: first, dedupe_key: 'daily' });
  const undone = await world.desk('DELETE', `/desk/deliveries/${first}/decision`);
  expect(await undone.json()).toMatchObject({
    state: 'superseded',
    section: 'earlier',
    superseded_by: second,
  });
  const open = (await (await world.desk('GET', '/desk/deliveries')).json()) as { deliveries: Shown[] };
  expect(open.deliveries.map((row) => row.delivery_id)).toEqual([second]);
  expect(await checked(world, first)).toMatchObject({ status: 'pending' });
});

it('[W26] a dedupe_key stands for the newest version, also while a decision on an older one is held', async () => {
  const { world } = await openStillWorld();
  const first = await world.deliver({ dedupe_key: 'daily' });
  await world.decide(first, { status: 'approved' });
  const second = await world.deliver({ revises: first, dedupe_key: 'daily' });
  const again = await told(world.post(DELIVER, draft(world, { dedupe_key: 'daily' })));
  expect([again.status, JSON.parse(again.text)]).toMatchObject([200, { delivery_id: second }]);
  const third = await told(world.post(DELIVER, draft(world, { revises: second, dedupe_key: 'daily' })));
  expect([third.status, await shown(world, second)]).toMatchObject([201, { state: 'superseded' }]);
});

it("[W26] revising an unknown or another agent's delivery is 422, alike", async () => {
  const world = await openWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const foreign = await world.deliver({ agent_id: 'agent-02' }, other.key);
  const send = (revises: string) => told(world.post(DELIVER, draft(world, { revises })));
  const replies = [];
  for (const id of [UNKNOWN, foreign, 'nonsense']) replies.push(await send(id));
  for (const { status, text } of replies) {
    expect([status, text]).toEqual([422, replies[0]?.text]);
    expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_field', field: 'revises' });
  }
  expect(await shown(world, foreign)).toMatchObject({ state: 'pending', superseded_by: null });
});

it('[W26] a second delivery with the same dedupe_key is 200 with the first one’s id', async () => {
  const world = await openWorld();
  const first = JSON.parse((await told(world.post(DELIVER, draft(world, { dedupe_key: 'daily' })))).text);
  expect(first).not.toHaveProperty('deduplicated');
  const again = await told(
    world.post(DELIVER, draft(world, { dedupe_key: 'daily', summary: 'Other words.' })),
  );
  expect(again.status).toBe(200);
  expect(JSON.parse(again.text)).toEqual({ ...first, deduplicated: true });
  expect(again.headers.get('location')).toBe(`/wake/v1/response/${first.delivery_id}`);
  expect((await swept(world, '')).total).toBe(1);
  expect(await shown(world, first.delivery_id)).toMatchObject({ summary: draft(world).summary });
});

it('[W26] the key is free again after the answer and after a withdrawal; a held decision is still pending', async () => {
  const { world } = await openStillWorld();
  const deliver = () => world.deliver({ dedupe_key: 'daily' });
  const first = await deliver();
  await world.decide(first, { status: 'approved' });
  expect(await deliver()).toBe(first);
  await world.tick(10 * SECOND);
  const second = await deliver();
  expect(second).not.toBe(first);
  await world.post(`/wake/v1/withdraw/${second}`, { reason: 'Again.' });
  expect(await deliver()).not.toBe(second);
});

it('[W26] dedupe keys belong to one agent, and many at one moment make one delivery', async () => {
  const world = await openWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const ids = await Promise.all(Array.from({ length: 20 }, () => world.deliver({ dedupe_key: 'daily' })));
  expect(new Set(ids).size).toBe(1);
  const foreign = await world.deliver({ agent_id: 'agent-02', dedupe_key: 'daily' }, other.key);
  expect(foreign).not.toBe(ids[0]);
});

it('[W26] a revision may carry the key of what it revises', async () => {
  const world = await openWorld();
  const first = await world.deliver({ dedupe_key: 'daily' });
  const second = await world.deliver({ dedupe_key: 'daily', revises: first });
  expect(second).not.toBe(first);
  expect(await world.deliver({ dedupe_key: 'daily' })).toBe(second);
});

it('[W26] the real client passes all of it on', async () => {
  const world = await openWorld();
  const wake = client(world);
  const words = { type: 'output', headline: 'Ready', summary: 'Publish it?' } as const;
  const first = await wake.deliver({
    ...words,
    dedupeKey: 'daily',
    taskId: 'task-1',
    threadId: 'th',
    interruptId: 'i',
  });
  expect(await shown(world, first.deliveryId)).toMatchObject({
    task_id: 'task-1',
    thread_id: 'th',
    interrupt_id: 'i',
  });
  expect(await wake.deliver({ ...words, dedupeKey: 'daily' })).toMatchObject({
    deliveryId: first.deliveryId,
    deduplicated: true,
  });
  const second = await wake.deliver({ ...words, revises: first.deliveryId });
  expect(await shown(world, second.deliveryId)).toMatchObject({ revision: 2 });
});
