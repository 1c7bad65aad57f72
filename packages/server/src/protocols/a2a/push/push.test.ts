import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { revokeKeys } from '../../../core/agents/keys.ts';
import { orThrow } from '../../../core/faults.ts';
import { removePerson } from '../../../core/people/membership/membership.ts';
import { addCallerToken, revokeCallerToken } from '../../../core/tasks/callers/callers.ts';
import type { CardData } from '../../../core/tasks/callers/card.ts';
import { Outbound } from '../../../dispatch/outbound/outbound.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  fresh,
  seedMessage,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { PUBLIC, publicAre } from '../../../testing/network/outbound.ts';
import { bodyOf, serve, signal } from '../../../testing/network/receivers.ts';
import { until } from '../../../testing/waiting.ts';
import { ManualClock, World } from '../../../testing/world.ts';

const world = useWorld();

type Received = { headers: IncomingHttpHeaders; body: Wire; text: string };

/** A webhook that keeps what it receives. It gives the listed answers in turn, then always 200. */
async function webhook(...answers: number[]): Promise<{ url: string; got: Received[] }> {
  const got: Received[] = [];
  const server = createServer(async (request, reply) => {
    const text = await bodyOf(request);
    got.push({ headers: request.headers, body: JSON.parse(text) as Wire, text });
    reply.writeHead(answers.shift() ?? 200).end();
  });
  const { port } = await serve(server);
  return { url: `http://127.0.0.1:${port}/hook`, got };
}

async function stage(callbacks: string[], on: World = world()) {
  const agent =
    on === world() ? await anAgent(on, { callbacks }) : await on.addAgent({ id: fresh('agent'), callbacks });
  return {
    agent,
    v1: new TestCaller(on, agent, { version: '1.0' }),
    v03: new TestCaller(on, agent),
  };
}

const atOnce = { blocking: false, returnImmediately: true };

describe('pushes', () => {
  test('[A18] every change is told, in order, in the dialect that asked for it', async () => {
    const { url, got } = await webhook();
    const { agent, v1, v03 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const config = { id: 'one', url };
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: config },
    });
    const { id } = sent.result.task as { id: string };
    await v03.call('tasks/pushNotificationConfig/set', {
      taskId: id,
      pushNotificationConfig: { id: 'three', url: `${url}/old` },
    });
    await laptop.say({ type: 'accepted', taskId: id });
    await laptop.say({ type: 'artifact', taskId: id, artifact: { artifactId: 'a', parts: [{ text: 'A' }] } });
    await laptop.say({ type: 'completed', taskId: id, text: 'Done.' });
    await until(async () => got.length === 5);
    const fresh = got.filter(({ headers }) => headers['content-type'] === 'application/a2a+json');
    expect(fresh.map(({ body }) => Object.keys(body)[0])).toEqual([
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const old = got.filter(({ headers }) => headers['content-type'] === 'application/json');
    expect(old.map(({ body }) => [body.kind, (body.status as Wire).state])).toEqual([
      ['task', 'working'],
      ['task', 'completed'],
    ]);
  });

  test('[A18][W22] sent again while an attempt is under way, both are on the record, and the next one follows', async () => {
    const [arrived, answer] = [signal(), signal()];
    const states: unknown[] = [];
    const hook = createServer(async (request, reply) => {
      const text = await bodyOf(request);
      states.push((JSON.parse(text) as { statusUpdate: { status: Wire } }).statusUpdate.status.state);
      arrived.fire();
      if (states.length === 1) await answer.seen;
      reply.writeHead(states.length === 1 ? 503 : 200).end();
    });
    const url = `http://127.0.0.1:${(await serve(hook)).port}/hook`;
    const { agent, v1 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const configuration = { ...atOnce, taskPushNotificationConfig: { id: 'one', url } };
    const sent = await v1.call('SendMessage', { ...v1Message('x'), configuration });
    const { id: taskId } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId });
    await arrived.seen;
    const [job] = await world().room.store.read(world().space.id, (tx) => tx.jobs.byDelivery(taskId));
    await world().desk('POST', `/desk/callbacks/${job?.id}/send-again`);
    await laptop.say({ type: 'completed', taskId, text: 'Done.' });
    answer.fire();
    const attempts = () => world().room.store.read(world().space.id, (tx) => tx.jobs.attempts(taskId));
    await until(async () => (await attempts()).length === 3);
    const ofFirst = (await attempts()).filter((attempt) => attempt.job === job?.id);
    expect(ofFirst.map(({ number, status }) => [number, status])).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  test('[A18] one that is set anew while a push is on its way hears only of what comes later', async () => {
    const told: string[] = [];
    const [arrived, answer] = [signal(), signal()];
    const hook = createServer((request, reply) => {
      request.on('data', (chunk) => told.push(String(chunk)));
      request.on('end', async () => {
        arrived.fire();
        await answer.seen;
        reply.end();
      });
    });
    const url = `http://127.0.0.1:${(await serve(hook)).port}/hook`;
    const { agent, v1 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const config = { id: 'one', url };
    const configuration = { ...atOnce, taskPushNotificationConfig: config };
    const sent = await v1.call('SendMessage', { ...v1Message('x'), configuration });
    const { id: taskId } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId });
    await arrived.seen;
    await laptop.say({ type: 'status', taskId, text: 'Said before it was set anew.' });
    await v1.call('DeleteTaskPushNotificationConfig', { taskId, id: 'one' });
    await v1.call('CreateTaskPushNotificationConfig', { taskId, ...config });
    answer.fire();
    const attempts = () => world().room.store.read(world().space.id, (tx) => tx.jobs.attempts(taskId));
    await until(async () => (await attempts()).length === 1);
    await laptop.say({ type: 'completed', taskId, text: 'Done.' });
    await until(async () => (await attempts()).length === 2);
    expect(told.map((text) => /Said before|Done|WORKING/.exec(text)?.[0])).toEqual(['WORKING', 'Done']);
  });

  test('[A18] a configuration that is not there is not found, by its id and as the only one', async () => {
    const { v1, v03 } = await stage([]);
    const { result } = await v03.call('message/send', { ...seedMessage('x'), configuration: atOnce });
    const taskId = result.id;
    const says = { code: -32001, message: 'This task has no push configuration with this id.' };
    const named = await v1.call('GetTaskPushNotificationConfig', { taskId, id: 'nobody' });
    expect(named.error).toMatchObject(says);
    const only = await v03.call('tasks/pushNotificationConfig/get', { id: taskId });
    expect(only.error).toMatchObject(says);
  });

  test('[A18] scheme and credentials, token, and both when both are set', async () => {
    const { url, got } = await webhook();
    const { agent, v03 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const configs: [Wire, Wire][] = [
      [
        { token: 'tok-1', authentication: { schemes: ['Basic'], credentials: 'dTpw' } },
        { authorization: 'Basic dTpw', 'x-a2a-notification-token': 'tok-1' },
      ],
      // The seed's form: a scheme without credentials means the token.
      [
        { token: 'tok-2', authentication: { scheme: 'bearer' } },
        { authorization: 'Bearer tok-2', 'x-a2a-notification-token': 'tok-2' },
      ],
      [
        { token: 'tok-3' },
        { authorization: expect.stringMatching(/^Bearer ey/), 'x-a2a-notification-token': 'tok-3' },
      ],
    ];
    for (const [config, headers] of configs) {
      const params = {
        ...seedMessage('x'),
        configuration: { ...atOnce, pushNotificationConfig: { url, ...config } },
      };
      const { result } = await v03.call('message/send', params);
      const before = got.length;
      await laptop.say({ type: 'completed', taskId: result.id });
      await until(async () => got.length > before);
      expect(got.at(-1)?.headers).toMatchObject(headers);
    }
  });

  test('[A18] each is signed: a JWT that verifies with the published keys and covers the body', async () => {
    const { url, got } = await webhook();
    const { agent, v1 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const config = { url, authentication: { scheme: 'Bearer', credentials: 'mine' } };
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: config },
    });
    await laptop.say({ type: 'completed', taskId: (sent.result.task as { id: string }).id });
    await until(async () => got.length === 1);
    const keys = createRemoteJWKSet(new URL(`${world().url}/.well-known/jwks.json`));
    const jwt = String(got[0]?.headers['x-a2a-notification-jwt']);
    const { payload } = await jwtVerify(jwt, keys, { issuer: world().url, audience: new URL(url).origin });
    expect(payload.request_body_sha256).toBe(world().room.vault.sha256(got[0]?.text ?? ''));
  });

  test('[A18] a failure is tried again on the schedule, and what comes later waits its turn', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const { url, got } = await webhook(503, 200);
    const { agent, v1 } = await stage([url], own);
    const laptop = await aLaptop(own, agent);
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: { url } },
    });
    const { id } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId: id });
    await laptop.say({ type: 'completed', taskId: id });
    await until(async () => got.length === 1);
    const states = () => got.map(({ body }) => ((body.statusUpdate as Wire).status as Wire).state);
    expect(states()).toEqual(['TASK_STATE_WORKING']);
    await until(async () => {
      const jobs = await own.room.store.read(own.space.id, (tx) => tx.jobs.byDelivery(id));
      return jobs.some(({ attempts }) => attempts === 1);
    });
    clock.turn(7_000_000);
    await own.room.store.write(own.space.id, [], async (tx) => tx.announce('jobs'));
    await until(async () => got.length === 3);
    expect(states()).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  test('[A18] delete is final: what was still due is not sent', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const { url, got } = await webhook(503);
    const { agent, v1 } = await stage([url], own);
    const laptop = await aLaptop(own, agent);
    const config = { id: 'mine', url };
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: config },
    });
    const { id } = sent.result.task as { id: string };
    await laptop.say({ type: 'completed', taskId: id });
    const jobs = () => own.room.store.read(own.space.id, (tx) => tx.jobs.byDelivery(id));
    await until(async () => (await jobs()).some(({ attempts }) => attempts === 1));
    await v1.call('DeleteTaskPushNotificationConfig', { taskId: id, id: 'mine' });
    clock.turn(7_000_000);
    await own.room.store.write(own.space.id, [], async (tx) => tx.announce('jobs'));
    await until(async () => (await jobs()).every(({ state }) => state === 'gone'));
    expect(got).toHaveLength(1);
  });

  test('[A18] nor is it sent to one that is set again under the same id', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const [before, after] = [await webhook(503), await webhook()];
    const { agent, v1 } = await stage([before.url, after.url], own);
    const laptop = await aLaptop(own, agent);
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: { id: 'mine', url: before.url } },
    });
    const { id: taskId } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId });
    const jobs = () => own.room.store.read(own.space.id, (tx) => tx.jobs.byDelivery(taskId));
    await until(async () => (await jobs()).some(({ attempts }) => attempts === 1));
    await v1.call('DeleteTaskPushNotificationConfig', { taskId, id: 'mine' });
    await v1.call('CreateTaskPushNotificationConfig', { taskId, id: 'mine', url: after.url });
    clock.turn(7_000_000);
    await own.room.store.write(own.space.id, [], async (tx) => tx.announce('jobs'));
    await until(async () => (await jobs()).every(({ state }) => state !== 'due'));
    await laptop.say({ type: 'completed', taskId, text: 'Done.' });
    await until(async () => after.got.length > 0);
    expect(after.got.map(({ body }) => (body.statusUpdate as Wire).status)).toMatchObject([
      { state: 'TASK_STATE_COMPLETED' },
    ]);
  });

  test('[A18] a receiver that answers 410 hears nothing more', async () => {
    const { url, got } = await webhook(410);
    const { agent, v1 } = await stage([url]);
    const laptop = await aLaptop(world(), agent);
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: { url } },
    });
    const { id: taskId } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId });
    const configs = async () => (await v1.call('ListTaskPushNotificationConfigs', { taskId })).result.configs;
    await until(async () => JSON.stringify(await configs()) === '[]');
    await laptop.say({ type: 'completed', taskId });
    expect(got).toHaveLength(1);
  });

  type Ending = [string, CardData['visibility'], (agent: MadeAgent) => Promise<Guest>];
  /** Somebody who may call the agent, and how that ends. */
  type Guest = { key: string | null; end(): Promise<unknown> };

  const endings: Ending[] = [
    [
      'token was revoked',
      'listed',
      async (agent) => {
        const made = { space: world().space.id, agent: agent.agent.id, name: 'a partner' };
        const { token, record } = orThrow(await addCallerToken(world().room, made, 'test'));
        return { key: token, end: () => revokeCallerToken(world().room, { ...made, id: record.id }, 'test') };
      },
    ],
    [
      'agent lost its keys',
      'space',
      async () => {
        const other = await anAgent(world());
        const at = { space: world().space.id, agent: other.agent.id };
        return { key: other.key, end: () => revokeKeys(world().room, at, 'test') };
      },
    ],
    [
      'person was removed',
      'space',
      async () => {
        const { person, token } = await world().addPerson(`${fresh('guest')}@example.com`, 'decider');
        return { key: token, end: () => removePerson(world().room, world().owner, person.id) };
      },
    ],
    [
      'person of another space was removed',
      'public',
      async () => {
        const space = await world().addSpace(fresh('sp'));
        const owner = await world().addPerson(`${fresh('owner')}@example.com`, 'owner', space);
        const { person, token } = await world().addPerson(`${fresh('guest')}@example.com`, 'reader', space);
        return { key: token, end: () => removePerson(world().room, owner.person, person.id) };
      },
    ],
    [
      'access ended with the agent’s openness to everybody',
      'public',
      async (agent) => ({ key: null, end: () => changeCard(world(), agent, { visibility: 'listed' }) }),
    ],
  ];

  test.each(endings)('[A18][W28] a caller whose %s is told nothing more', async (_, visibility, invite) => {
    const { url, got } = await webhook();
    const { agent } = await stage([url]);
    await changeCard(world(), agent, { visibility });
    const { key, end } = await invite(agent);
    const laptop = await aLaptop(world(), agent);
    const guest = new TestCaller(world(), agent, { version: '1.0', key });
    const sent = await guest.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: { url } },
    });
    const { id: taskId } = sent.result.task as { id: string };
    await laptop.say({ type: 'accepted', taskId });
    await until(async () => got.length === 1);
    await end();
    await laptop.say({ type: 'completed', taskId, text: 'the secret' });
    const { room, space } = world();
    const jobs = () => room.store.read(space.id, (tx) => tx.jobs.byDelivery(taskId));
    await until(async () => (await jobs()).every(({ state }) => state !== 'due'));
    expect((await jobs()).map(({ state }) => state).sort()).toEqual(['done', 'gone']);
    expect(got).toHaveLength(1);
  });

  test('[A6][A18] 1.0 reads the configurations by the page, also when one is deleted in between', async () => {
    const { v1 } = await stage([]);
    const sent = await v1.call('SendMessage', { ...v1Message('x'), configuration: atOnce });
    const { id: taskId } = sent.result.task as { id: string };
    const config = (id: string) => ({ id, taskId, url: 'https://example.com/hook' });
    for (const id of ['c', 'a', 'd', 'b']) await v1.call('CreateTaskPushNotificationConfig', config(id));
    const page = async (params: Wire) => {
      const { result } = await v1.call('ListTaskPushNotificationConfigs', { taskId, ...params });
      return result as unknown as { configs: Wire[]; nextPageToken: string };
    };
    const all = await page({ pageSize: 0 });
    expect(all).toEqual({ configs: ['a', 'b', 'c', 'd'].map(config), nextPageToken: '' });
    const first = await page({ pageSize: 2 });
    expect(first.configs).toEqual([config('a'), config('b')]);
    await v1.call('DeleteTaskPushNotificationConfig', { taskId, id: 'b' });
    const rest = await v1.rest(
      'GET',
      `/tasks/${taskId}/pushNotificationConfigs?pageSize=2&pageToken=${first.nextPageToken}`,
    );
    expect(await rest.json()).toEqual({ configs: [config('c'), config('d')], nextPageToken: '' });
    const refused = await v1.call('ListTaskPushNotificationConfigs', { taskId, pageSize: 101 });
    expect(refused.error?.code).toBe(-32602);
  });

  const refused: [string, Wire, RegExp][] = [
    ['plain http', { url: 'http://example.com/hook' }, /https/],
    ['another scheme', { url: 'ftp://example.com/hook' }, /https/],
    ['userinfo', { url: 'https://user:pw@example.com/hook' }, /user name/],
    ['a line break', { url: 'https://example.com/\r\nx' }, /control/],
    ['no address', { url: 'nonsense' }, /complete address/],
    ['loopback that the agent does not list', { url: 'http://127.0.0.1:9/hook' }, /allowlist/],
    ['a line break in the token', { url: 'https://example.com/', token: 'a\r\nX-Evil: 1' }, /token/],
    [
      'a line break in the credentials',
      { url: 'https://example.com/', authentication: { schemes: ['Bearer'], credentials: 'a\nb' } },
      /credentials/,
    ],
    [
      'a scheme of two words',
      { url: 'https://example.com/', authentication: { schemes: ['Bearer x'] } },
      /scheme/,
    ],
  ];

  test.each(refused)('[A18] %s is refused when it is set', async (_, config, message) => {
    const { v03 } = await stage([]);
    const params = { ...v03Message('x'), configuration: { ...atOnce, pushNotificationConfig: config } };
    const inline = await v03.call('message/send', params);
    expect(inline.error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    const { result } = await v03.call('message/send', v03Message('x'));
    const later = await v03.call('tasks/pushNotificationConfig/set', {
      taskId: result.id,
      pushNotificationConfig: config,
    });
    expect(later.error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
  });

  test('[A18] a public address needs no allowlist; a private one is not dialled when the time comes', async () => {
    const own = await World.open({
      outbound: () => new Outbound({ judge: publicAre(PUBLIC), lookup: async () => ['10.0.0.1'] }),
    });
    onTestFinished(() => own.stop());
    const { agent, v1 } = await stage([], own);
    const laptop = await aLaptop(own, agent);
    const config = { url: 'https://metadata.example/hook' };
    const sent = await v1.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: config },
    });
    const { id } = sent.result.task as { id: string };
    await laptop.say({ type: 'completed', taskId: id });
    const attempts = () => own.room.store.read(own.space.id, (tx) => tx.jobs.attempts(id));
    await until(async () => (await attempts()).length === 1);
    expect((await attempts())[0]).toMatchObject({
      status: null,
      outcome: expect.not.stringMatching(/answered/),
    });
  });
});

describe('a space with a list of push targets', () => {
  const restrict = async (on: World, push_targets: string[] | null) => {
    const reply = await on.desk('PUT', '/desk/settings/push-targets', { push_targets });
    expect(reply.status).toBe(200);
  };
  const ownWorld = async (options = {}) => {
    const own = await World.open(options);
    onTestFinished(() => own.stop());
    return own;
  };
  const send = (caller: TestCaller, url: string) =>
    caller.call('SendMessage', {
      ...v1Message('x'),
      configuration: { ...atOnce, taskPushNotificationConfig: { url } },
    });

  test('[A18] a public address needs no list, but another port than 443 does', async () => {
    const own = await ownWorld();
    const { v1 } = await stage(['https://partner.example:8443/hooks'], own);
    const says = { code: -32602, message: expect.stringMatching(/Leave the port out/) };
    for (const url of ['https://partner.example:22/hooks', 'https://partner.example:8443/other'])
      expect((await send(v1, url)).error).toMatchObject(says);
    for (const url of ['https://elsewhere.example:443/', 'https://partner.example:8443/hooks'])
      expect((await send(v1, url)).error).toBeUndefined();
    await restrict(own, ['https://partner.example:9443']);
    expect((await send(v1, 'https://partner.example:9443/')).error).toBeUndefined();
  });

  test('[A18] refuses every other target when it is set, inline and later', async () => {
    const own = await ownWorld();
    const { v1 } = await stage([], own);
    await restrict(own, ['https://partner.example/hooks']);
    const says = { code: -32602, message: expect.stringMatching(/list of push targets/) };
    for (const url of [
      'https://elsewhere.example/hooks',
      'https://partner.example/hooks-too',
      'https://partner.example:8443/hooks',
    ])
      expect((await send(v1, url)).error).toMatchObject(says);
    const sent = await send(v1, 'https://partner.example/hooks/a2a');
    const { id: taskId } = sent.result.task as { id: string };
    const later = { taskId, url: 'https://elsewhere.example/' };
    expect((await v1.call('CreateTaskPushNotificationConfig', later)).error).toMatchObject(says);
    await restrict(own, null);
    expect((await v1.call('CreateTaskPushNotificationConfig', later)).result).toMatchObject({ taskId });
  });

  test('[A18] is asked again when sending: what left the list gets nothing, what came back gets it', async () => {
    const clock = new ManualClock();
    const own = await ownWorld({ clock });
    const { url, got } = await webhook();
    const { agent, v1 } = await stage([url], own);
    const laptop = await aLaptop(own, agent);
    const sent = await send(v1, url);
    const { id } = sent.result.task as { id: string };
    await restrict(own, ['https://partner.example']);
    await laptop.say({ type: 'completed', taskId: id });
    const attempts = () => own.room.store.read(own.space.id, (tx) => tx.jobs.attempts(id));
    await until(async () => (await attempts()).length === 1);
    expect(await attempts()).toMatchObject([{ outcome: 'target_not_allowed', status: null }]);
    expect(got).toEqual([]);
    await restrict(own, [new URL(url).origin]);
    clock.turn(7_000_000);
    await own.room.store.write(own.space.id, [], async (tx) => tx.announce('jobs'));
    await until(async () => got.length === 1);
  });

  test('[A18] a listed loopback target still needs the agent’s own allowlist', async () => {
    const own = await ownWorld();
    const { url } = await webhook();
    await restrict(own, [url]);
    const { v1 } = await stage([], own);
    expect((await send(v1, url)).error).toMatchObject({ message: expect.stringMatching(/allowlist/) });
  });

  test('[A19] agents of this server hear of it all the same: nothing leaves', async () => {
    const own = await ownWorld();
    await restrict(own, []);
    const { agent, v1 } = await stage([], own);
    const second = await own.addAgent({ id: fresh('agent') });
    const laptop = await aLaptop(own, agent);
    const sent = await send(v1, `${own.url}/@home/${second.agent.id}`);
    const { id } = sent.result.task as { id: string };
    await laptop.say({ type: 'completed', taskId: id });
    await until(async () => {
      const { events } = (await (await own.get('/akep/events', second.key)).json()) as { events: Wire[] };
      return events.length === 1;
    });
  });
});

describe('chains', () => {
  const inbox = async (agent: MadeAgent) => {
    const reply = await world().get('/akep/events', agent.key);
    return (
      (await reply.json()) as {
        events: { event_type: string; subject: Wire; knowledge: Wire; event_id: string }[];
      }
    ).events;
  };

  test('[A19] a push to another agent here is an event in its inbox, though both are asleep', async () => {
    const first = await anAgent(world());
    const second = await anAgent(world());
    const caller = new TestCaller(world(), first);
    const url = `${world().url}/@home/${second.agent.id}`;
    const wait = await world().post(
      '/akep/waits',
      { subject: { task_id: 'later' }, run_state_ref: 'run-1' },
      second.key,
    );
    expect(wait.status).toBeLessThan(300);
    const params = {
      ...v03Message('x'),
      configuration: { ...atOnce, pushNotificationConfig: { url, token: 't' } },
    };
    const { result } = await caller.call('message/send', params);
    await world().post(
      '/akep/waits',
      { subject: { task_id: result.id }, run_state_ref: 'run-2' },
      second.key,
    );
    const laptop = await aLaptop(world(), first);
    await laptop.say({ type: 'input_required', taskId: result.id, text: 'Which?' });
    await laptop.say({ type: 'completed', taskId: result.id, text: 'The report is ready.' });
    await laptop.close();
    await until(async () => (await inbox(second)).length === 2);
    expect(await inbox(second)).toMatchObject([
      { event_type: 'human.review_required', subject: { task_id: result.id } },
      {
        event_type: 'tool.completed',
        subject: { task_id: result.id, agent_id: second.agent.id },
        knowledge: { summary: 'The report is ready.', content: { kind: 'task', id: result.id } },
      },
    ]);
    const resumes = (await (await world().get('/akep/resumes', second.key)).json()) as { resumes: Wire[] };
    expect(resumes.resumes).toMatchObject([{ run_state_ref: 'run-2' }]);
  });

  test.each([
    ['failed', 'tool.failed'],
    ['rejected', 'tool.failed'],
    ['status', 'message.received'],
  ])('[A19] %s becomes %s', async (type, eventType) => {
    const first = await anAgent(world());
    const second = await anAgent(world());
    const laptop = await aLaptop(world(), first);
    const url = `${world().url}/@home/${second.agent.id}/`;
    const params = { ...v03Message('x'), configuration: { ...atOnce, pushNotificationConfig: { url } } };
    const { result } = await new TestCaller(world(), first).call('message/send', params);
    await laptop.say({ type, taskId: result.id, text: 'words' });
    await until(async () => (await inbox(second)).length === 1);
    expect((await inbox(second))[0]?.event_type).toBe(eventType);
  });

  test('[A19][A24] of a long task the other agent is told the status, and finds the rest in the task', async () => {
    const first = await anAgent(world());
    const second = await anAgent(world());
    const laptop = await aLaptop(world(), first);
    const url = `${world().url}/@home/${second.agent.id}/`;
    const params = { ...v03Message('x'), configuration: { ...atOnce, pushNotificationConfig: { url } } };
    const { result } = await new TestCaller(world(), first).call('message/send', params);
    const artifact = { artifactId: 'a', parts: [{ text: 'long '.repeat(120_000) }] };
    for (const append of [false, true])
      await laptop.say({ type: 'artifact', taskId: result.id, artifact, append });
    await laptop.say({ type: 'completed', taskId: result.id, text: 'The report is ready.' });
    await until(async () => (await inbox(second)).length === 1);
    const [event] = await inbox(second);
    const content = { kind: 'task', id: result.id, status: { state: 'completed' } };
    expect(event).toMatchObject({ event_type: 'tool.completed', knowledge: { content } });
    expect(JSON.stringify(event).length).toBeLessThan(10_000);
  });

  test('[A19] an agent of another space hears of it only when it is public or its token says so', async () => {
    const space = await world().addSpace(fresh('far'));
    const id = fresh('target');
    const target = await world().addAgent({ id, space: space.id });
    const first = await anAgent(world());
    const laptop = await aLaptop(world(), first);
    const url = `${world().url}/@${space.handle}/${id}`;
    const tell = async (config: Wire) => {
      const params = {
        ...v03Message('x'),
        configuration: { ...atOnce, pushNotificationConfig: { url, ...config } },
      };
      const { result } = await new TestCaller(world(), first).call('message/send', params);
      await laptop.say({ type: 'completed', taskId: result.id });
      const jobs = () => world().room.store.read(world().space.id, (tx) => tx.jobs.byDelivery(result.id));
      await until(async () => (await jobs()).every(({ state }) => state !== 'due'));
      return (await jobs())[0]?.state;
    };
    expect(await tell({})).toBe('gone');
    expect(await inbox(target)).toEqual([]);
    const far = { room: world().room, space } as never as World;
    await changeCard(far, target, { visibility: 'listed' });
    // One for another agent there opens nothing, nor one for an agent of that name elsewhere.
    const beside = await world().addAgent({ id: fresh('beside'), space: space.id });
    const namesake = await world().addAgent({ id });
    expect(await tell({ token: await aCallerToken(far, beside) })).toBe('gone');
    expect(await tell({ token: await aCallerToken(world(), namesake) })).toBe('gone');
    expect(await tell({ token: await aCallerToken(far, target) })).toBe('done');
    await changeCard(far, target, { visibility: 'public' });
    expect(await tell({})).toBe('done');
    expect(await inbox(target)).toHaveLength(2);
  });

  test('[A19][A21] who only may call one agent cannot reach the others of its space through it', async () => {
    const first = await anAgent(world());
    const second = await anAgent(world());
    const laptop = await aLaptop(world(), first);
    const url = `${world().url}/@home/${second.agent.id}`;
    const tell = async (caller: TestCaller, config: Wire = {}) => {
      const configuration = { ...atOnce, pushNotificationConfig: { url, ...config } };
      const { result } = await caller.call('message/send', { ...v03Message('x'), configuration });
      await laptop.say({ type: 'completed', taskId: result.id });
      const jobs = () => world().room.store.read(world().space.id, (tx) => tx.jobs.byDelivery(result.id));
      await until(async () => (await jobs()).every(({ state }) => state !== 'due'));
      return (await jobs())[0]?.state;
    };
    await changeCard(world(), first, { visibility: 'public' });
    const partner = new TestCaller(world(), first, { key: await aCallerToken(world(), first) });
    const space = await world().addSpace(fresh('far'));
    const foreigner = await world().addAgent({ id: fresh('foreigner'), space: space.id });
    const outside = [
      new TestCaller(world(), first, { key: null }),
      partner,
      new TestCaller(world(), first, { key: foreigner.key }),
    ];
    for (const caller of outside) expect(await tell(caller)).toBe('gone');
    expect(await inbox(second)).toEqual([]);
    await changeCard(world(), second, { visibility: 'listed' });
    const token = await aCallerToken(world(), second);
    expect(await tell(partner, { token })).toBe('done');
    // Closed again: its tokens open nothing any more, neither for a call nor for this.
    await changeCard(world(), second, { visibility: 'space' });
    expect(await tell(partner, { token })).toBe('gone');
    expect(await tell(new TestCaller(world(), first))).toBe('done');
    expect(await inbox(second)).toHaveLength(2);
  });
});
