import { createHmac } from 'node:crypto';
import { type Verified, verifyWebhook } from '@lanternroom/sdk';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { DAY, SECOND } from '../../core/time.ts';
import {
  AT_ONCE,
  attemptsOf,
  type Called,
  client,
  type HookAnswer,
  openHook,
  openWorld,
  told,
} from '../../testing/wake.ts';
import { ManualClock, type World } from '../../testing/world.ts';

/** Whoever checks a timestamp compares it with real time, so the clock stands still at the present moment. */
function presentClock(): ManualClock {
  return new ManualClock(Date.now() * 1000);
}

/** A world whose agent `hooked` may be called back at a real receiver. */
async function openHooked(
  env: Record<string, string> = AT_ONCE,
  answer: () => HookAnswer = () => ({ status: 200 }),
) {
  const hook = await openHook(answer);
  const world = await openWorld({ env, clock: presentClock() });
  const agent = await world.addAgent({ id: 'hooked', callbacks: [`${hook.origin}/hooks`] });
  const over = { agent_id: 'hooked', callback_webhook: `${hook.origin}/hooks/wake?x=1` };
  const deliver = (more: Record<string, unknown> = {}) => world.deliver({ ...over, ...more }, agent.key);
  return { world, hook, agent, deliver };
}

function theOnly(calls: readonly Called[]): Called {
  const [call] = calls;
  if (call === undefined || calls.length !== 1) throw new Error(`expected one call, not ${calls.length}`);
  return call;
}

async function answerBytes(world: World, id: string, key: string): Promise<string> {
  return (await told(world.get(`/wake/v1/response/${id}`, key))).text;
}

it('[W20] the decision is posted with the bytes of the poll and both families of signatures', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const id = await deliver();
  await world.decide(id, { status: 'redirected', feedback: 'Größer 👋', edited_content: { b: 1, a: 'x' } });
  await attemptsOf(world, id, 1);
  const { path, body, headers } = theOnly(hook.calls);
  expect(path).toBe('/hooks/wake?x=1');
  expect(body).toBe(await answerBytes(world, id, agent.key));
  const hmac = createHmac('sha256', agent.callbackSecret).update(body).digest('hex');
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-wake-signature': `sha256=${hmac}`,
    'x-wake-delivery-id': id,
    'webhook-id': id,
  });
  expect(headers.authorization).toBeUndefined();
  expect(JSON.stringify(headers)).not.toContain(agent.callbackSecret.slice(6));
});

type WebhookNames = 'webhook-id' | 'webhook-timestamp' | 'webhook-signature';

function standardHeaders({ headers }: Called): Record<WebhookNames, string> {
  return {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  };
}

it('[W20] the standardwebhooks package and the real client both find it genuine', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const id = await deliver();
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  const call = theOnly(hook.calls);
  const { body, headers } = call;
  expect(new Webhook(agent.callbackSecret).verify(body, standardHeaders(call))).toMatchObject({
    status: 'approved',
  });
  expect(await verifyWebhook({ secret: agent.callbackSecret, body, headers })).toMatchObject({ ok: true });
  const wake = client(world, { apiKey: agent.key });
  await wake.adopt(id);
  expect(await wake.receive({ secret: agent.callbackSecret, body, headers })).toMatchObject({
    ok: true,
    answer: { status: 'approved', mayProceed: true, deliveryId: id },
  });
});

it('[W20] a changed body, another secret and an old timestamp are found out', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const id = await deliver();
  await world.decide(id, { status: 'rejected' });
  await attemptsOf(world, id, 1);
  const { body, headers } = theOnly(hook.calls);
  const secret = agent.callbackSecret;
  const refused = (reason: string): Verified => expect.objectContaining({ ok: false, reason });
  const forged = body.replace('rejected', 'approved');
  expect(await verifyWebhook({ secret, body: forged, headers })).toEqual(refused('bad_signature'));
  const other = world.agent.callbackSecret;
  expect(await verifyWebhook({ secret: other, body, headers })).toEqual(refused('bad_signature'));
  const later = Date.now() + 301_000;
  expect(await verifyWebhook({ secret, body, headers, now: later })).toEqual(refused('stale_timestamp'));
});

async function rotate(world: World): Promise<string> {
  const reply = await world.desk('POST', '/desk/agents/hooked/callback-secret');
  return ((await reply.json()) as { callback_secret: string }).callback_secret;
}

it('[W20] during a rotation both secrets sign, so that neither receiver misses anything', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const id = await deliver();
  const fresh = await rotate(world);
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  const call = theOnly(hook.calls);
  const { body, headers } = call;
  for (const secret of [agent.callbackSecret, fresh]) {
    expect(new Webhook(secret).verify(body, standardHeaders(call))).toMatchObject({ status: 'approved' });
    expect(await verifyWebhook({ secret, body, headers })).toMatchObject({ ok: true });
  }
  // This header has room for one signature: the new secret's, which an updated receiver has.
  const hmac = createHmac('sha256', fresh).update(body).digest('hex');
  expect(headers['x-wake-signature']).toBe(`sha256=${hmac}`);
});

it('[W20] when the overlap has ended, the old secret signs no more', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const fresh = await rotate(world);
  const id = await deliver();
  await world.tick(4 * DAY);
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  const { body, headers } = theOnly(hook.calls);
  const now = Date.now() + 4 * 86_400_000;
  expect(await verifyWebhook({ secret: fresh, body, headers, now })).toMatchObject({ ok: true });
  expect(await verifyWebhook({ secret: agent.callbackSecret, body, headers, now })).toMatchObject({
    ok: false,
  });
});

it('[W20] a held decision calls nobody before its effect, and an undone one never does', async () => {
  const { world, hook, deliver } = await openHooked({});
  const undone = await deliver();
  const id = await deliver();
  await world.decide(undone, { status: 'approved' });
  await world.decide(id, { status: 'rejected' });
  await world.desk('DELETE', `/desk/deliveries/${undone}/decision`);
  expect(await attemptsOf(world, id, 0)).toMatchObject({ callbacks: [] });
  await world.tick(10 * SECOND);
  await attemptsOf(world, id, 1);
  expect(theOnly(hook.calls).headers['x-wake-delivery-id']).toBe(id);
  expect(await attemptsOf(world, undone, 0)).toMatchObject({ callbacks: [], attempts: [] });
});

it('[W20] without callback_webhook nobody is called', async () => {
  const { world, deliver } = await openHooked();
  const id = await deliver({ callback_webhook: null });
  await world.decide(id, { status: 'approved' });
  expect(await attemptsOf(world, id, 0)).toMatchObject({ callbacks: [], attempts: [] });
});

it('[W20] a withdrawal is told like an answer, with the bytes of the poll', async () => {
  const { world, hook, agent, deliver } = await openHooked();
  const id = await deliver();
  await world.post(`/wake/v1/withdraw/${id}`, { reason: 'Not needed.' }, agent.key);
  await attemptsOf(world, id, 1);
  expect(theOnly(hook.calls).body).toBe(await answerBytes(world, id, agent.key));
});

it('[W20] what was due before a stop is sent after the start', async () => {
  const { world, hook, deliver } = await openHooked({ LANTERNROOM_UNDO_SECONDS: '10' });
  const id = await deliver();
  await world.decide(id, { status: 'approved' });
  await world.restart();
  await world.tick(10 * SECOND);
  await attemptsOf(world, id, 1);
  expect(theOnly(hook.calls).headers['x-wake-delivery-id']).toBe(id);
});

it('[W20] a clock that was set back holds no callback up', async () => {
  const { world, hook, deliver } = await openHooked();
  const id = await deliver();
  world.clock?.turn(-3600 * SECOND);
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  expect(theOnly(hook.calls).headers['x-wake-delivery-id']).toBe(id);
});
