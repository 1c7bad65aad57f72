import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { openDesk, refused, status } from '../../testing/desk/desk.ts';
import { bodyOf, httpReceiver } from '../../testing/network/receivers.ts';

type Heard = { headers: IncomingHttpHeaders; body: string };

async function open(code: number) {
  const heard: Heard[] = [];
  const receiver = await httpReceiver(async (req, res) => {
    heard.push({ headers: req.headers, body: await bodyOf(req) });
    res.writeHead(code).end('the receiver’s own words');
  });
  const origin = `http://127.0.0.1:${receiver.port}`;
  const { world } = await openDesk();
  await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [`${origin}/hooks`] });
  const press = (url: string, token = world.token) =>
    world.desk('POST', '/desk/agents/agent-01/callbacks/test', { url }, token);
  return { heard, origin, world, press };
}

test('[D51] sends a signed request that is plainly a test, and tells the status', async () => {
  const { heard, origin, press, world } = await open(204);
  expect(await (await press(`${origin}/hooks/x`)).json()).toEqual({ ok: true, status: 204 });
  const [request] = heard;
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ test: true, agent_id: 'agent-01' });
  const expected = createHmac('sha256', world.agent.callbackSecret)
    .update(request?.body ?? '')
    .digest('hex');
  expect(request?.headers['x-wake-signature']).toBe(`sha256=${expected}`);
  expect(request?.headers).toHaveProperty('webhook-signature');
  const audit = await (await world.desk('GET', '/desk/audit?action=callback.tested')).text();
  expect(audit).toContain(origin);
});

test('[D51] a refusal of the receiver is told as its status, without its words', async () => {
  const { origin, press } = await open(500);
  const reply = await press(`${origin}/hooks`);
  expect(await reply.json()).toEqual({ ok: false, status: 500 });
});

test('[D51] whatever goes wrong on the way is one generic reason', async () => {
  const { press, world } = await open(200);
  await world.desk('PUT', '/desk/agents/agent-01/callbacks', {
    callbacks: ['http://127.0.0.1:9', 'https://10.0.0.1'],
  });
  const down = await (await press('http://127.0.0.1:9/')).json();
  const inside = await (await press('https://10.0.0.1/')).json();
  expect(down).toEqual({ ok: false, reason: expect.any(String) });
  expect(inside).toEqual(down);
});

test('[D51] only what is on the allowlist, only for owners, and never loopback without a test key', async () => {
  const { origin, press, world, heard } = await open(200);
  expect(await refused(press(`${origin}/elsewhere`))).toMatchObject({
    status: 422,
    code: 'target_not_allowed',
  });
  const decider = await world.addPerson('d@example.com', 'decider');
  expect(await status(press(`${origin}/hooks`, decider.token))).toBe(403);
  await world.addAgent({ id: 'live-one', tier: 'live', callbacks: [origin] });
  const live = world.desk('POST', '/desk/agents/live-one/callbacks/test', { url: `${origin}/` });
  expect(await refused(live)).toMatchObject({ status: 422, code: 'target_not_allowed' });
  expect(await status(world.desk('POST', '/desk/agents/nobody/callbacks/test', { url: origin }))).toBe(404);
  expect(heard).toEqual([]);
});
