import { describe, expect, onTestFinished, test } from 'vitest';
import type { MadeAgent } from '../../core/agents/found.ts';
import { revokeCallerToken } from '../../core/tasks/callers/callers.ts';
import { SECOND } from '../../core/time.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  fresh,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../testing/a2a/a2a.ts';
import { scripted } from '../../testing/a2a/scripted-agent.ts';
import { each, until } from '../../testing/waiting.ts';
import { ManualClock, World } from '../../testing/world.ts';

const world = useWorld();

async function statusFor(agent: MadeAgent, key: string | null): Promise<number> {
  const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: v03Message('x') };
  return (await new TestCaller(world(), agent, { key }).post(body)).status;
}

async function foreignAgent(): Promise<MadeAgent> {
  const space = await world().addSpace(fresh('sp'));
  return world().addAgent({ id: 'stranger', space: space.id });
}

describe('who may call', () => {
  test('[A21] by default the agents and people of the space', async () => {
    const agent = await anAgent(world());
    const colleague = await anAgent(world());
    expect(await statusFor(agent, agent.key)).toBe(200);
    expect(await statusFor(agent, colleague.key)).toBe(200);
    expect(await statusFor(agent, world().token)).toBe(200);
    expect(await statusFor(agent, null)).toBe(401);
    expect(await statusFor(agent, (await foreignAgent()).key)).toBe(401);
    expect(await statusFor(agent, await aCallerToken(world(), agent))).toBe(401);
    expect(await statusFor(agent, 'ct_nonsense')).toBe(401);
  });

  test('[A21] a listed agent also takes its own caller tokens, until they are revoked', async () => {
    const agent = await anAgent(world());
    const other = await anAgent(world());
    for (const one of [agent, other]) await changeCard(world(), one, { visibility: 'listed' });
    const token = await aCallerToken(world(), agent);
    expect(token).toMatch(/^ct_[0-9A-Za-z]{38}$/);
    expect(await statusFor(agent, token)).toBe(200);
    expect(await statusFor(other, token)).toBe(401);
    const at = { space: world().space.id, agent: agent.agent.id };
    const [listed] = await world().room.store.read(at.space, (tx) => tx.callers.list(at.agent));
    expect(JSON.stringify(listed)).not.toContain(token);
    await revokeCallerToken(world().room, { ...at, id: listed?.id ?? '' }, 'test');
    expect(await statusFor(agent, token)).toBe(401);
  });

  const waits: [string, (caller: TestCaller) => Promise<Response>][] = [
    ['JSON-RPC', (caller) => caller.stream('SendMessage', v1Message('hello'))],
    ['HTTP+JSON', (caller) => caller.rest('POST', '/message:send', v1Message('hello'))],
    ['a stream', (caller) => caller.stream('SendStreamingMessage', v1Message('hello'))],
  ];
  test.each(waits)(
    '[A21][W28] a message over %s that waits for its answer is not given it once its token was revoked',
    async (_, ask) => {
      const agent = await anAgent(world());
      await changeCard(world(), agent, { visibility: 'listed' });
      const laptop = await aLaptop(world(), agent);
      const key = await aCallerToken(world(), agent);
      const waiting = ask(new TestCaller(world(), agent, { key, version: '1.0' }));
      const { taskId } = await laptop.ofType('task');
      const at = { space: world().space.id, agent: agent.agent.id };
      const [listed] = await world().room.store.read(at.space, (tx) => tx.callers.list(at.agent));
      await revokeCallerToken(world().room, { ...at, id: listed?.id ?? '' }, 'test');
      const message = { role: 'ROLE_AGENT', parts: [{ text: 'the secret' }] };
      expect(await laptop.say({ type: 'message', taskId, message })).toMatchObject({ type: 'ack' });
      const reply = await waiting;
      expect([reply.status, (await reply.text()).includes('the secret')]).toEqual([401, false]);
    },
  );

  test('[A21] a caller from outside is let in only so often, each counted alone', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const agent = await anAgent(own);
    await changeCard(own, agent, { visibility: 'public' });
    const space = await own.addSpace('elsewhere');
    const neighbour = await own.addAgent({ id: 'neighbour', space: space.id });
    const [token, other] = [await aCallerToken(own, agent), await aCallerToken(own, agent, 'another')];
    const ask = (key: string) => new TestCaller(own, agent, { key }).post({ jsonrpc: '2.0' });
    const statuses = async (key: string, count: number) => {
      const all: number[] = [];
      await each(Array.from({ length: count }).keys(), async () => all.push((await ask(key)).status));
      return [...new Set(all)].sort();
    };
    expect(await statuses(token, 600)).toEqual([200]);
    expect(await statuses(neighbour.key, 600)).toEqual([200]);
    for (const key of [token, neighbour.key]) {
      const refused = await ask(key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    }
    expect((await ask(other)).status).toBe(200);
    expect(await statuses(agent.key, 601)).toEqual([200]);
    clock.turn(SECOND);
    expect(await statuses(token, 10)).toEqual([200]);
    expect((await ask(token)).status).toBe(429);
  });

  test('[A21] a public agent takes everybody, strangers only so often', async () => {
    const agent = await anAgent(world());
    await changeCard(world(), agent, { visibility: 'public' });
    expect(await statusFor(agent, (await foreignAgent()).key)).toBe(200);
    expect(await statusFor(agent, 'wk_test_nonsense')).toBe(401);
    const statuses = new Set<number>();
    // Many more than are let in, and at once: on a busy machine the allowance would come back while they are counted.
    await each(Array.from({ length: 250 }).keys(), async () => statuses.add(await statusFor(agent, null)));
    expect([...statuses].sort()).toEqual([200, 429]);
    expect(await statusFor(agent, agent.key)).toBe(200);
  });

  test('[A21][W29] a stranger has only so many streams of a public agent open', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const agent = await anAgent(own);
    await changeCard(own, agent, { visibility: 'public' });
    const stranger = new TestCaller(own, agent, { key: null, version: '1.0' });
    const open = () => {
      clock.turn(60 * SECOND); // they have all the time they want
      return stranger.stream('SendStreamingMessage', v1Message('hello'));
    };
    const streams: Response[] = [];
    for (let n = 0; n < 60; n++) streams.push(await open());
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await open();
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('End one')]);
    // Who comes with a name is not counted among them.
    const named = new TestCaller(own, agent, { version: '1.0' });
    expect((await named.call('SendMessage', v1Message('hello'))).error).toBeUndefined();
    await streams[7]?.body?.cancel();
    await until(async () => (await open()).status === 200);
    for (const stream of streams) await stream.body?.cancel().catch(() => {});
  });

  test('[A22][A8] strangers whose messages have the same short id get a task each', async () => {
    const own = await World.open({ env: { LANTERNROOM_TRUST_PROXY: '127.0.0.1' } });
    onTestFinished(() => own.stop());
    const agent = await anAgent(own);
    await changeCard(own, agent, { visibility: 'public' });
    const stranger = new TestCaller(own, agent, { key: null, version: '0.3' });
    const send = async (from: string, messageId: string) => {
      const message = { ...(v03Message('hello').message as Wire), messageId };
      const headers = { 'x-forwarded-for': from, 'x-forwarded-proto': 'https' };
      const { result } = await stranger.call('message/send', { message }, headers);
      return (result as Wire).id;
    };
    const first = await send('192.0.2.1', '1');
    expect(first).toEqual(expect.any(String));
    expect(await send('192.0.2.1', '1')).toBe(first);
    expect(await send('192.0.2.2', '1')).not.toBe(first);
    const long = '5f1c2a9e-6a0b-4b7e-9d1a-0c9f6f1d2e3b';
    expect(await send('192.0.2.1', long)).toBe(await send('192.0.2.2', long));
  });

  test('[A21] a refusal says how to come in, in JSON-RPC and in HTTP+JSON', async () => {
    const agent = await anAgent(world());
    const stranger = new TestCaller(world(), agent, { key: null, version: '1.0' });
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } };
    for (const reply of [await stranger.post(body), await stranger.rest('GET', '/tasks/x')]) {
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="a2a"']);
      expect(JSON.stringify(await reply.json())).toContain('Authorization: Bearer');
    }
  });

  test('[A21][A22] an agent that is not there and one that is not for them look alike', async () => {
    const agent = await anAgent(world());
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } });
    const { key } = await foreignAgent();
    const ask = async (path: string, headers: Record<string, string>) => {
      const reply = await fetch(world().url + path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      return [reply.status, await reply.text()];
    };
    for (const headers of [{}, { authorization: `Bearer ${key}` }] as Record<string, string>[]) {
      const known = await ask(`/@home/${agent.agent.id}`, headers);
      expect(await ask('/@home/nobody', headers)).toEqual(known);
      expect(await ask('/@nowhere/nobody', headers)).toEqual(known);
    }
  });
});

describe('isolation', () => {
  async function twoCallers() {
    const agent = await anAgent(world());
    const other = await anAgent(world());
    const alice = new TestCaller(world(), agent, { version: '1.0' });
    const bob = new TestCaller(world(), agent, { version: '1.0', key: other.key });
    const sent = await alice.call('SendMessage', v1Message('secret plans'));
    const task = sent.result.task as { id: string; contextId: string };
    return { agent, other, alice, bob, task };
  }

  test('[A22] a foreign task answers exactly like one that does not exist, whatever is asked of it', async () => {
    const { bob, task } = await twoCallers();
    const calls: [string, (id: string) => Wire][] = [
      ['GetTask', (id) => ({ id })],
      ['CancelTask', (id) => ({ id })],
      ['SubscribeToTask', (id) => ({ id })],
      ['SendMessage', (id) => v1Message('x', { messageId: 'fixed', taskId: id })],
      ['SendStreamingMessage', (id) => v1Message('x', { messageId: 'fixed', taskId: id })],
      ['CreateTaskPushNotificationConfig', (id) => ({ taskId: id, url: 'https://example.com/' })],
      ['GetTaskPushNotificationConfig', (id) => ({ taskId: id, id: 'x' })],
      ['ListTaskPushNotificationConfigs', (id) => ({ taskId: id })],
      ['DeleteTaskPushNotificationConfig', (id) => ({ taskId: id, id: 'x' })],
    ];
    for (const [method, params] of calls) {
      const foreign = await bob.call(method, params(task.id));
      expect([method, foreign.error?.code]).toEqual([method, -32001]);
      expect(foreign).toEqual(await bob.call(method, params('9d0e9f0c-0000-4000-8000-000000000000')));
    }
  });

  test('[A22] a task is reachable through its own agent alone', async () => {
    const { agent, other, task } = await twoCallers();
    const elsewhere = new TestCaller(world(), other, { version: '1.0', key: agent.key });
    expect((await elsewhere.call('GetTask', { id: task.id })).error.code).toBe(-32001);
  });

  test("[A22] lists, counts and page tokens are one's own", async () => {
    const { alice, bob, task } = await twoCallers();
    await alice.call('SendMessage', v1Message('more'));
    const mine = await bob.call('ListTasks', {});
    expect(mine.result).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' });
    const byContext = await bob.call('ListTasks', { contextId: task.contextId });
    expect(byContext.result).toEqual((await bob.call('ListTasks', { contextId: 'nobody' })).result);
    const { result } = await alice.call('ListTasks', { pageSize: 1 });
    const stolen = await bob.call('ListTasks', { pageToken: result.nextPageToken });
    expect(stolen.error.code).toBe(-32602);
    expect(stolen.error).toEqual((await bob.call('ListTasks', { pageToken: '1.1.0' })).error);
  });

  test('[A22] a context of somebody else is not joined: a fresh one is given, as for one that never was', async () => {
    const { alice, bob, task } = await twoCallers();
    const contextOf = async (caller: TestCaller, contextId: string) => {
      const { result } = await caller.call('SendMessage', v1Message('x', { contextId }));
      return (result.task as { contextId: string }).contextId;
    };
    expect(await contextOf(alice, task.contextId)).toBe(task.contextId);
    const given = await contextOf(bob, task.contextId);
    expect(given).not.toBe(task.contextId);
    const neverWas = 'ctx-9d0e9f0c-0000-4000-8000-000000000000';
    expect(await contextOf(bob, neverWas)).not.toBe(neverWas);
  });

  async function contextsOf(caller: TestCaller, ...names: string[]): Promise<string[]> {
    const given: string[] = [];
    for (const contextId of names) {
      const { result } = await caller.call('SendMessage', v1Message('x', { contextId }));
      given.push((result.task as { contextId: string }).contextId);
    }
    return given;
  }

  test("[A22] a caller's own name for a context is kept, however it begins", async () => {
    const { alice } = await twoCallers();
    const names = ['main', 'ctx-1', 'ctx-weekly report', 'main', 'ctx-1'];
    expect(await contextsOf(alice, ...names)).toEqual(names);
  });

  test('[A22] a name that another caller uses stands for a context of one’s own, the same each time', async () => {
    const { agent, alice, bob } = await twoCallers();
    const laptop = await aLaptop(world(), agent, scripted);
    expect(await contextsOf(alice, 'main', 'main')).toEqual(['main', 'main']);
    const [first = '', ...others] = await contextsOf(bob, 'main', 'main');
    expect(first).toMatch(/^ctx-/);
    expect(others).toEqual([first]);
    expect(await contextsOf(bob, first)).toEqual([first]);
    expect(await contextsOf(alice, 'main')).toEqual(['main']);
    // It stands for it in a list and beside a task as well; nobody else's does.
    const listed = await bob.call('ListTasks', { contextId: 'main' });
    expect(listed.result).toMatchObject({ totalSize: 3 });
    const asked = await bob.call('SendMessage', v1Message('ask', { contextId: 'main' }));
    const { id: taskId } = asked.result.task as { id: string };
    const goesOn = (contextId: string) => bob.call('SendMessage', v1Message('x', { taskId, contextId }));
    expect((await goesOn('other')).error.code).toBe(-32602);
    expect((await goesOn('main')).result.task).toMatchObject({ id: taskId, contextId: first });
    const told = laptop.texts.map((text) => (JSON.parse(text) as Wire).contextId);
    expect(told.filter((contextId) => contextId === 'main')).toHaveLength(3);
    expect(told.filter((contextId) => contextId === first)).toHaveLength(5);
  });

  test('[A22] a short name of a stranger is theirs alone, for strangers have none by which to tell them apart', async () => {
    const own = await World.open({ env: { LANTERNROOM_TRUST_PROXY: '127.0.0.1' } });
    onTestFinished(() => own.stop());
    const agent = await anAgent(own);
    await changeCard(own, agent, { visibility: 'public' });
    const stranger = new TestCaller(own, agent, { key: null, version: '1.0' });
    const contextOf = async (from: string, contextId: string) => {
      const headers = { 'x-forwarded-for': from, 'x-forwarded-proto': 'https' };
      const { result } = await stranger.call('SendMessage', v1Message('x', { contextId }), headers);
      return (result.task as { contextId: string }).contextId;
    };
    const first = await contextOf('192.0.2.1', 'main');
    expect(first).toMatch(/^ctx-/);
    expect(await contextOf('192.0.2.1', 'main')).toBe(first);
    expect(await contextOf('192.0.2.2', 'main')).not.toBe(first);
    // Whoever knows what was made up, or given out, was there.
    const long = '5f1c2a9e-6a0b-4b7e-9d1a-0c9f6f1d2e3b';
    for (const from of ['192.0.2.1', '192.0.2.2'])
      expect([await contextOf(from, long), await contextOf(from, first)]).toEqual([long, first]);
  });

  test('[A22] strangers share a name, so nothing is listed to them', async () => {
    const agent = await anAgent(world());
    await changeCard(world(), agent, { visibility: 'public' });
    const stranger = new TestCaller(world(), agent, { version: '1.0', key: null });
    const sent = await stranger.call('SendMessage', v1Message('hello'));
    const { id } = sent.result.task as { id: string };
    expect((await stranger.call('GetTask', { id })).result.id).toBe(id);
    expect((await stranger.rest('GET', '/tasks')).status).toBe(401);
  });

  test("[A22] the history of a task shows nobody else's messages", async () => {
    const { agent, bob } = await twoCallers();
    await aLaptop(world(), agent, scripted);
    const { result } = await bob.call('SendMessage', v1Message('hello'));
    expect(JSON.stringify(result)).not.toContain('secret plans');
  });
});
