import { expect, it } from 'vitest';
import { HOUR } from '../../core/time.ts';
import {
  AT_ONCE,
  client,
  draft,
  ledger,
  openStillWorld,
  openWorld,
  refusal,
  swept,
  told,
} from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
const DAY_LESS_A_MICRO = 24 * HOUR - 1;

function send(world: World, idempotencyKey: string, body: unknown = draft(world), key?: string) {
  return told(world.post(DELIVER, body, key, { 'idempotency-key': idempotencyKey }));
}

it('[W12] the same key and body answer the same 201, and there is one delivery', async () => {
  const world = await openWorld();
  const first = await send(world, 'one');
  const again = await send(world, 'one');
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect((await swept(world, '')).total).toBe(1);
  expect(await ledger(world, 'delivery.accepted')).toHaveLength(1);
});

it('[W12] bodies are compared as values: order, spaces and escapes do not matter', async () => {
  const world = await openWorld();
  const first = await send(world, 'one', draft(world, { details: { a: 1, b: 'é', c: [1, 2] } }));
  const other = draft(world, { details: { c: [1, 2], b: '\\u00e9', a: 1 } });
  const text = JSON.stringify(Object.fromEntries(Object.entries(other).reverse()), null, 2)
    .replace('\\\\u00e9', '\\u00e9')
    .replace('"a": 1', '"a": 1.0');
  expect((await send(world, 'one', text)).text).toBe(first.text);
});

it('[W12] another body is 409 and names the header; the first delivery stays as it was', async () => {
  const world = await openWorld();
  const first = await send(world, 'one');
  for (const over of [
    { summary: 'Other.' },
    { details: { draft: 'Dear readers', readers: '1200' } },
    { x: 1 },
  ]) {
    const reply = world.post(DELIVER, draft(world, over), undefined, { 'idempotency-key': 'one' });
    expect(await refusal(reply)).toEqual({
      status: 409,
      code: 'idempotency_conflict',
      message: expect.stringContaining('another body'),
      field: 'Idempotency-Key',
      docs: `${world.url}/docs/errors#idempotency_conflict`,
    });
  }
  expect((await send(world, 'one')).text).toBe(first.text);
  expect((await swept(world, '')).total).toBe(1);
});

it('[W12] a key has 1 to 255 characters', async () => {
  const world = await openWorld();
  expect((await send(world, 'x'.repeat(255))).status).toBe(201);
  for (const key of ['x'.repeat(256), '']) {
    const reply = world.post(DELIVER, draft(world), undefined, { 'idempotency-key': key });
    expect(await refusal(reply)).toMatchObject({
      status: 422,
      code: 'invalid_field',
      field: 'Idempotency-Key',
    });
  }
  expect((await swept(world, '')).total).toBe(1);
});

it('[W12] identical requests at one moment make exactly one delivery', async () => {
  const world = await openWorld();
  const replies = await Promise.all(Array.from({ length: 40 }, () => send(world, 'one')));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect((await swept(world, '')).total).toBe(1);
});

it('[W12] different bodies with one key at one moment: one wins, the others are 409', async () => {
  const world = await openWorld();
  const bodies = Array.from({ length: 10 }, (_, i) => draft(world, { summary: `Number ${i}.` }));
  const replies = await Promise.all(bodies.map((body) => send(world, 'one', body)));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  expect((await swept(world, '')).total).toBe(1);
});

it.each([
  ['1', '1.0', 201],
  ['10000000000000001', '1.0000000000000001e16', 201],
  ['10000000000000001', '10000000000000000', 409],
  ['0.1', '0.10000000000000000001', 409],
])('[W12] %s and then %s under one key: %i', async (first, second, status) => {
  const world = await openWorld();
  const body = (amount: string) =>
    JSON.stringify(draft(world, { details: { amount: 0 } })).replace('"amount":0', `"amount":${amount}`);
  const send = (amount: string) => world.post(DELIVER, body(amount), undefined, { 'idempotency-key': 'one' });
  expect((await send(first)).status).toBe(201);
  expect((await send(second)).status).toBe(status);
  expect((await swept(world, '')).total).toBe(1);
});

it('[W12] a key is kept for 24 hours, and then is new', async () => {
  const { world } = await openStillWorld();
  const first = await send(world, 'one');
  await world.tick(DAY_LESS_A_MICRO);
  expect((await send(world, 'one')).text).toBe(first.text);
  await world.tick(1);
  const later = await send(world, 'one', draft(world, { summary: 'Another day.' }));
  expect(later.status).toBe(201);
  expect(later.text).not.toBe(first.text);
  expect((await send(world, 'one', draft(world, { summary: 'Another day.' }))).text).toBe(later.text);
  expect((await swept(world, '')).total).toBe(2);
});

it('[W12] a key survives a restart', async () => {
  const { world } = await openStillWorld();
  const first = await send(world, 'one');
  await world.restart();
  expect((await send(world, 'one')).text).toBe(first.text);
  expect((await swept(world, '')).total).toBe(1);
});

it('[W12] the same 201 also comes after the answer, which stays where it is', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const first = await send(world, 'one');
  const { delivery_id: id } = JSON.parse(first.text);
  await world.decide(id, { status: 'approved' });
  expect((await send(world, 'one')).text).toBe(first.text);
  expect((await swept(world, 'status=approved')).total).toBe(1);
});

it('[W12] keys belong to one agent', async () => {
  const world = await openWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const first = await send(world, 'one');
  const second = await send(world, 'one', draft(world, { agent_id: 'agent-02' }), other.key);
  expect(second.status).toBe(201);
  expect(second.text).not.toBe(first.text);
});

it('[W12] a refused delivery does not use its key up', async () => {
  const world = await openWorld();
  expect((await send(world, 'one', draft(world, { headline: 7 }))).status).toBe(422);
  expect((await send(world, 'one')).status).toBe(201);
});

it('[W12] without a key, the same body is another delivery', async () => {
  const world = await openWorld();
  expect(await world.deliver()).not.toBe(await world.deliver());
});

it('[W12] the real client repeats a lost reply with its key, and delivers once', async () => {
  const world = await openWorld();
  let lost = 0;
  const wake = client(world, {
    fetch: async (input, init) => {
      const reply = await fetch(input, init);
      if (init?.method !== 'POST' || lost++ > 1) return reply;
      throw new TypeError('the reply was lost on its way');
    },
    clock: { now: () => Date.now(), sleep: async () => {} },
  });
  const { deliveryId } = await wake.deliver({ type: 'question', headline: 'Ready', summary: 'Ship it?' });
  expect(lost).toBe(3);
  expect(await swept(world, '')).toMatchObject({ total: 1, deliveries: [{ delivery_id: deliveryId }] });
});
