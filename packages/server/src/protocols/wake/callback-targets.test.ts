import { afterAll, beforeAll, expect, it } from 'vitest';
import { signal } from '../../testing/network/receivers.ts';
import { AT_ONCE, attemptsOf, draft, openHook, openWorld, refusal, told } from '../../testing/wake.ts';
import { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
const ALLOWED = [
  'https://hooks.example.com/wake',
  'https://hooks.example.com:8443',
  'http://127.0.0.1:9999/hooks',
];

let shared: World;
const keys: Record<'test' | 'live', string> = { test: '', live: '' };
beforeAll(async () => {
  shared = await World.open();
  for (const tier of ['test', 'live'] as const) {
    keys[tier] = (await shared.addAgent({ id: `${tier}-agent`, tier, callbacks: ALLOWED })).key;
  }
});
afterAll(() => shared.stop());

function send(tier: 'test' | 'live', target: string): Promise<Response> {
  const body = draft(shared, { agent_id: `${tier}-agent`, callback_webhook: target });
  return shared.post(DELIVER, body, keys[tier]);
}

it.each([
  ['live', 'https://hooks.example.com/wake'],
  ['live', 'https://hooks.example.com/wake/'],
  ['live', 'https://hooks.example.com/wake/a/b?task=1'],
  ['live', 'HTTPS://HOOKS.example.com:443/wake'],
  ['live', 'https://hooks.example.com:8443/anything'],
  ['test', 'https://hooks.example.com/wake'],
  ['test', 'http://127.0.0.1:9999/hooks/a'],
] as const)('[W21] a %s key may be called back at %s', async (tier, target) => {
  expect((await send(tier, target)).status).toBe(201);
});

it.each([
  ['test', 'not_a_url', ''],
  ['test', 'not_a_url', '/hooks'],
  ['test', 'not_https', 'ftp://hooks.example.com/wake'],
  ['test', 'not_https', 'http://hooks.example.com/wake'],
  ['test', 'not_listed', 'https://example.com/wake'],
  ['test', 'not_listed', 'https://hooks.example.com.evil.example/wake'],
  ['test', 'not_listed', 'https://hooks.example.com:444/wake'],
  ['test', 'not_listed', 'https://hooks.example.com/'],
  ['test', 'not_listed', 'https://hooks.example.com/wakeful'],
  ['test', 'not_listed', 'https://hooks.example.com/wake/../admin'],
  ['test', 'path_escapes', 'https://hooks.example.com/wake/..%2fadmin'],
  ['test', 'userinfo', 'https://hooks.example.com@evil.example/wake'],
  ['test', 'fragment', 'https://hooks.example.com/wake#x'],
  ['test', 'control_characters', 'https://hooks.example.com/wa\nke'],
  ['test', 'not_listed', 'http://127.0.0.1:9998/hooks'],
  ['test', 'not_listed', 'http://localhost:9999/hooks'],
  ['test', 'loopback', 'http://0.0.0.0:9999/hooks'],
  ['test', 'too_long', `https://hooks.example.com/wake/${'x'.repeat(2048)}`],
  ['live', 'loopback', 'http://127.0.0.1:9999/hooks'],
  ['live', 'loopback', 'https://localhost/hooks'],
  ['live', 'loopback', 'https://[::1]/hooks'],
  ['live', 'not_https', 'http://hooks.example.com/wake'],
] as const)('[W8, W21] for a %s key, a target that is %s is 422: %j', async (tier, reason, target) => {
  expect(await refusal(send(tier, target))).toEqual({
    status: 422,
    code: 'target_not_allowed',
    message: expect.any(String),
    field: 'callback_webhook',
    docs: `${shared.url}/docs/errors#target_not_allowed`,
    reason,
  });
});

it('[W21] an agent without an allowlist is called back nowhere, and not at what another one may use', async () => {
  const body = draft(shared, { callback_webhook: ALLOWED[0] });
  expect(await refusal(shared.post(DELIVER, body))).toMatchObject({ status: 422, reason: 'not_listed' });
});

async function setCallbacks(world: World, callbacks: string[]): Promise<void> {
  expect((await world.desk('PUT', '/desk/agents/hooked/callbacks', { callbacks })).status).toBe(200);
}

it('[W21] the allowlist is asked again when sending: what left it meanwhile is not called', async () => {
  const hook = await openHook(() => ({ status: 200 }));
  const world = await openWorld({ env: AT_ONCE });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
  await setCallbacks(world, []);
  await world.decide(id, { status: 'approved' });
  const record = await attemptsOf(world, id, 1);
  expect(record.attempts).toMatchObject([{ number: 1, outcome: 'target_not_allowed', status: null }]);
  expect(record.callbacks).toMatchObject([{ state: 'due', attempts: 1 }]);
  expect(hook.calls).toEqual([]);
  await setCallbacks(world, [hook.origin]);
  await world.desk('POST', `/desk/callbacks/${record.callbacks[0]?.job_id}/send-again`);
  expect(await attemptsOf(world, id, 2)).toMatchObject({ callbacks: [{ state: 'done' }] });
  expect(hook.calls).toHaveLength(1);
});

it.each([
  'https://10.0.0.1/hook',
  'https://169.254.169.254/latest',
  'https://[fd00::1]/hook',
  'https://[::ffff:10.0.0.1]/hook',
])(
  '[W21] an inner address is refused at connect time, also when it is written as a literal: %s',
  async (target) => {
    const world = await openWorld({ env: AT_ONCE });
    const { key } = await world.addAgent({ id: 'hooked', callbacks: [target] });
    const id = await world.deliver({ agent_id: 'hooked', callback_webhook: target }, key);
    await world.decide(id, { status: 'approved' });
    const { attempts } = await attemptsOf(world, id, 1);
    expect(attempts).toMatchObject([{ outcome: 'refused_address', status: null }]);
  },
);

it('[W21] a redirect counts as a failure like any other: not followed, tried again', async () => {
  const trap = await openHook(() => ({ status: 200 }));
  const hook = await openHook(() => ({ status: 307, headers: { location: `${trap.origin}/taken` } }));
  const world = await openWorld({ env: AT_ONCE });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin, trap.origin] });
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
  await world.decide(id, { status: 'approved' });
  const record = await attemptsOf(world, id, 1);
  expect(record.attempts).toMatchObject([{ outcome: 'answered', status: 307 }]);
  expect(record.callbacks).toMatchObject([{ state: 'due' }]);
  expect(trap.calls).toEqual([]);
});

it('[W22] a receiver that hangs does not slow another one, nor the agent', async () => {
  const arrived = signal();
  const released = signal();
  const hung = await openHook(async () => {
    arrived.fire();
    await released.seen;
    return { status: 200 };
  });
  const fine = await openHook(() => ({ status: 200 }));
  const world = await openWorld({ env: AT_ONCE });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hung.origin, fine.origin] });
  const deliver = (origin: string) =>
    world.deliver({ agent_id: 'hooked', callback_webhook: `${origin}/a` }, key);
  const stuck = [];
  for (let i = 0; i < 6; i++) stuck.push(await deliver(hung.origin));
  const id = await deliver(fine.origin);
  for (const one of stuck) await world.decide(one, { status: 'approved' });
  await arrived.seen;
  await world.decide(id, { status: 'approved' });
  expect(await attemptsOf(world, id, 1)).toMatchObject({ callbacks: [{ state: 'done' }] });
  expect(hung.calls.length).toBeLessThanOrEqual(4);
  for (const one of stuck)
    expect((await told(world.get(`/wake/v1/response/${one}`, key))).text).toContain('approved');
  released.fire();
  for (const one of stuck)
    expect(await attemptsOf(world, one, 1)).toMatchObject({ callbacks: [{ state: 'done' }] });
});
