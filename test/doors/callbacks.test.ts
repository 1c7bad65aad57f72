import { createHmac } from 'node:crypto';
import { verifyWebhook } from '@lanternroom/sdk/wake';
import { expect, test } from 'vitest';
import type { Desk, Detail } from '../support/desk.ts';
import { type Received, type Receiver, startRawReceiver, startReceiver } from '../support/receiver.ts';
import { AGENT, CALLBACK_SECRET, Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import type { WakeClient } from '../support/wake.ts';

type World = { server: Server; wake: WakeClient; desk: Desk };

async function startWith(receivers: readonly Receiver[]): Promise<World> {
  const allowed = receivers.map(({ origin }) => `${origin}/callback`).join(',');
  const server = await Server.start({
    env: { LANTERNROOM_UNDO_SECONDS: '0', LANTERNROOM_INIT_CALLBACKS: allowed },
  });
  return { server, wake: server.wake(), desk: await server.desk() };
}

/** Delivers and decides so many for a receiver, one after the other; returns the ids in that order. */
async function answerFor({ wake, desk }: World, receiver: Receiver, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = await wake.delivered({ callback_webhook: `${receiver.origin}/callback` });
    expect((await desk.decide(id, { status: 'approved', feedback: `Number ${n} — ü` })).status).toBe(200);
    ids.push(id);
  }
  return ids;
}

async function attempted(desk: Desk, id: string, count: number): Promise<Detail> {
  return until(`${count} attempts on the record`, async () => {
    const detail = await desk.detail(id);
    return detail.attempts.length >= count && detail;
  });
}

/** Byte by byte, it never comes to an end. */
function dripHeaders(socket: { write(text: string): unknown; destroyed: boolean }): void {
  socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  const drip = setInterval(() => {
    if (socket.destroyed) clearInterval(drip);
    else socket.write('x');
  }, 100);
}

/** An origin where nobody listens any more. */
async function closedReceiver(): Promise<Receiver> {
  return { origin: 'http://127.0.0.1:1', received: [], connections: 0 };
}

async function expectGenuine({ wake }: World, received: Received): Promise<void> {
  const { body, headers } = received;
  const id = String(headers['x-wake-delivery-id']);
  expect(body).toBe((await wake.response(id)).text);
  expect(headers['content-type']).toBe('application/json');
  const digest = createHmac('sha256', CALLBACK_SECRET).update(body).digest('hex');
  expect(headers['x-wake-signature']).toBe(`sha256=${digest}`);
  expect(headers['webhook-id']).toBe(id);
  expect(await verifyWebhook({ secret: CALLBACK_SECRET, body, headers })).toMatchObject({ ok: true });
}

test('[W20][W22][D28] healthy receivers get everything while others hang, reset, babble, redirect or refuse', async () => {
  const healthy = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  const stolen = given(healthy[0], 'healthy receiver');
  const bad = {
    reset: await startRawReceiver((socket) => socket.resetAndDestroy()),
    garbage: await startRawReceiver((socket) => socket.end('I am no server\r\n\r\n')),
    redirect: await startReceiver((reply) =>
      reply.writeHead(302, { location: `${stolen.origin}/stolen` }).end(),
    ),
    gone: await startReceiver((reply) => reply.writeHead(410).end()),
    failing: await startReceiver((reply) => reply.writeHead(500).end('x'.repeat(1000))),
    refusing: await closedReceiver(),
    // These last: a busy machine must not take longer to answer for all than they take to be given up.
    timeout: await startReceiver(() => {}),
    slow: await startRawReceiver(dripHeaders),
  };
  const world = await startWith([...healthy, ...Object.values(bad)]);
  // The bad ones come first and have more waiting than a receiver may have under way.
  const ids: Record<string, string[]> = {};
  for (const [name, receiver] of Object.entries(bad)) ids[name] = await answerFor(world, receiver, 6);
  const answerAll = (count: number) => Promise.all(healthy.map((one) => answerFor(world, one, count)));
  const areThere = (wanted: string[][]) =>
    until('all healthy ones have theirs', () =>
      healthy.every(({ received }, at) => received.length === wanted[at]?.length),
    );
  const first = await answerAll(2);
  await areThere(first);
  // Not one had to wait for an end of those that hang: theirs are still under way.
  for (const name of ['timeout', 'slow']) {
    for (const id of ids[name] ?? []) expect((await world.desk.detail(id)).attempts).toEqual([]);
  }
  const more = await answerAll(8);
  const wanted = first.map((some, at) => [...some, ...(more[at] ?? [])]);
  await areThere(wanted);
  for (const [at, { received }] of healthy.entries()) {
    expect(received.map((r) => r.headers['x-wake-delivery-id']).sort()).toEqual(
      [...(wanted[at] ?? [])].sort(),
    );
    for (const one of received) await expectGenuine(world, one);
  }

  const outcomes = {
    reset: { outcome: 'reset', status: null },
    garbage: { outcome: 'garbage', status: null },
    redirect: { outcome: 'answered', status: 302 },
    gone: { outcome: 'answered', status: 410 },
    failing: { outcome: 'answered', status: 500 },
    refusing: { outcome: 'connect', status: null },
    timeout: { outcome: 'timeout', status: null },
    slow: { outcome: 'timeout', status: null },
  };
  for (const [name, outcome] of Object.entries(outcomes)) {
    const id = given(ids[name]?.[0], `delivery for ${name}`);
    const { attempts, callbacks } = await attempted(world.desk, id, 1);
    expect([name, attempts[0]]).toEqual([name, expect.objectContaining({ number: 1, ...outcome })]);
    expect([name, callbacks[0]?.state]).toEqual([name, name === 'gone' ? 'gone' : 'due']);
  }
  expect(stolen.received.filter(({ path }) => path !== '/callback')).toEqual([]);
});

test('[W22][D20] 500 and then 200: the retry arrives with the same bytes, and both are on the record', async () => {
  let fails = 1;
  const receiver = await startReceiver((reply) => reply.writeHead(fails-- > 0 ? 500 : 200).end());
  const world = await startWith([receiver]);
  const [id = ''] = await answerFor(world, receiver, 1);
  const { attempts, callbacks } = await attempted(world.desk, id, 2);
  expect(attempts).toMatchObject([
    { number: 1, status: 500 },
    { number: 2, status: 200 },
  ]);
  expect(callbacks).toMatchObject([{ state: 'done', attempts: 2 }]);
  const [first, second] = receiver.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  for (const one of receiver.received) await expectGenuine(world, one);
});

test('[W22][D20] 410 stops for good, and it can still be sent again by hand', async () => {
  let gone = true;
  const receiver = await startReceiver((reply) => reply.writeHead(gone ? 410 : 200).end());
  const world = await startWith([receiver]);
  const [id = ''] = await answerFor(world, receiver, 1);
  const { callbacks } = await attempted(world.desk, id, 1);
  expect(callbacks).toMatchObject([{ state: 'gone', attempts: 1 }]);
  gone = false;
  const job = given(callbacks[0], 'callback').job_id;
  expect((await world.desk.request('POST', `/desk/callbacks/${job}/send-again`)).status).toBe(200);
  const again = await attempted(world.desk, id, 2);
  expect(again.callbacks).toMatchObject([{ state: 'done', attempts: 2 }]);
  expect(again.attempts.map((a) => a.status)).toEqual([410, 200]);
});

test('[W21] the allowlist is asked again when it is sent: what was taken off gets nothing', async () => {
  const receiver = await startReceiver();
  const world = await startWith([receiver]);
  const id = await world.wake.delivered({ callback_webhook: `${receiver.origin}/callback` });
  const beside = await world.wake.deliver({ callback_webhook: `${receiver.origin}/callback-2` });
  expect([beside.status, beside.text]).toEqual([422, expect.stringContaining('target_not_allowed')]);
  await world.desk.request('PUT', `/desk/agents/${AGENT.id}/callbacks`, { callbacks: [] });
  await world.desk.decide(id, { status: 'approved' });
  const { attempts } = await attempted(world.desk, id, 1);
  expect(attempts).toMatchObject([{ outcome: 'target_not_allowed', status: null }]);
  expect(receiver.connections).toBe(0);
});

test('[W20] while a secret is rotated both sign', async () => {
  const receiver = await startReceiver();
  const world = await startWith([receiver]);
  const path = `/desk/agents/${AGENT.id}/callback-secret`;
  const { json } = await world.desk.request<{ callback_secret: string }>('POST', path, {});
  await answerFor(world, receiver, 1);
  const { body, headers } = await until('the callback', () => receiver.received[0]);
  for (const secret of [CALLBACK_SECRET, json.callback_secret]) {
    expect(await verifyWebhook({ secret, body, headers })).toMatchObject({ ok: true });
  }
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  expect(await verifyWebhook({ secret: other, body, headers })).toMatchObject({ ok: false });
});
