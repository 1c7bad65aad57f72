import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { aLaptop, TestCaller, useWorld, v1Message } from '../../../testing/a2a/a2a.ts';

const world = useWorld();

type Schema = Record<string, unknown>;
type Content = { content?: Record<string, { schema: Schema }> };
type Operation = { security?: unknown[]; requestBody?: Content; responses: Record<string, Content> };
type OpenApi = { paths: Record<string, Record<string, Operation>> };

const BASE = '/@{handle}/{agent}';
const ajv = new Ajv2020({ strict: false });
const document = async () => (await (await fetch(`${world().url}/openapi.json`)).json()) as OpenApi;

/** The operations of HTTP+JSON, as the document names them. */
async function operations(): Promise<Map<string, Operation>> {
  const found = Object.entries((await document()).paths).flatMap(([path, methods]) =>
    path.startsWith(`${BASE}/`) && !path.includes('.well-known') && path !== `${BASE}/`
      ? Object.entries(methods).map(([method, op]) => [`${method} ${path.slice(BASE.length)}`, op] as const)
      : [],
  );
  return new Map(found);
}

type Asked = { method: string; path: string; body?: unknown; headers?: Record<string, string> };

/** One good request for each operation, on things that are there; in the order in which they can be done. */
async function requests(): Promise<{ caller: TestCaller; asked: Record<string, Asked> }> {
  const { agent } = world();
  const laptop = await aLaptop(world(), agent);
  const caller = new TestCaller(world(), agent, { version: '1.0' });
  const atOnce = { configuration: { returnImmediately: true } };
  const open = async () => {
    const sent = await caller.call('SendMessage', { ...v1Message('x'), ...atOnce });
    return (sent.result.task as { id: string }).id;
  };
  const [id, ended, canceled] = [await open(), await open(), await open()];
  const raw = Buffer.alloc(700_000).toString('base64');
  const artifact = { artifactId: 'a', parts: [{ raw, mediaType: 'application/octet-stream' }] };
  await laptop.say({ type: 'artifact', taskId: ended, artifact });
  await laptop.say({ type: 'completed', taskId: ended, text: 'Done.' });
  const task = (await (await caller.rest('GET', `/tasks/${ended}`)).text()).match(/\/content\/([\w-]+)/);
  const configs = `/tasks/${id}/pushNotificationConfigs`;
  const push = { id: 'mine', url: 'https://example.com/hook', token: 't' };
  const follow = { method: 'GET', path: `/tasks/${ended}:subscribe`, headers: { 'last-event-id': '1' } };
  const asked: Record<string, Asked> = {
    'post /message:send': { method: 'POST', path: '/message:send', body: { ...v1Message('x'), ...atOnce } },
    'post /message:stream': { method: 'POST', path: '/message:stream', body: v1Message('x') },
    'get /tasks': { method: 'GET', path: '/tasks?pageSize=2&historyLength=1&includeArtifacts=true' },
    'get /tasks/{id}': { method: 'GET', path: `/tasks/${ended}?historyLength=1` },
    'get /tasks/{id}:subscribe': follow,
    'post /tasks/{id}:subscribe': { ...follow, method: 'POST' },
    'post /tasks/{id}:cancel': { method: 'POST', path: `/tasks/${canceled}:cancel`, body: {} },
    'post /tasks/{id}/pushNotificationConfigs': { method: 'POST', path: configs, body: push },
    'get /tasks/{id}/pushNotificationConfigs': { method: 'GET', path: configs },
    'get /tasks/{id}/pushNotificationConfigs/{config}': { method: 'GET', path: `${configs}/mine` },
    'delete /tasks/{id}/pushNotificationConfigs/{config}': { method: 'DELETE', path: `${configs}/mine` },
    'get /tasks/{id}/content/{content}': { method: 'GET', path: `/tasks/${ended}/content/${task?.[1]}` },
    'get /extendedAgentCard': { method: 'GET', path: '/extendedAgentCard' },
  };
  return { caller, asked };
}

function flaws(schema: Schema, value: unknown): unknown {
  const validate = ajv.compile(schema);
  return validate(value) ? [] : validate.errors;
}

test('[A1] /openapi.json has every operation of HTTP+JSON; each answers, with bodies as the schemas have them', async () => {
  const documented = await operations();
  const { caller, asked } = await requests();
  expect([...documented.keys()].sort()).toEqual(Object.keys(asked).sort());
  for (const [name, { method, path, body, headers }] of Object.entries(asked)) {
    const operation = documented.get(name);
    const sent = operation?.requestBody?.content?.['application/json']?.schema;
    if (sent !== undefined) expect([name, flaws(sent, body)]).toEqual([name, []]);
    const reply = await caller.rest(method, path, body, headers);
    expect([name, reply.status]).toEqual([name, 200]);
    expect([name, reply.headers.get('cache-control')]).toEqual([name, expect.stringContaining('no-store')]);
    const type = reply.headers.get('content-type') ?? '';
    const content = operation?.responses['200']?.content ?? {};
    const [kind] = Object.keys(content);
    if (kind !== undefined && kind !== '*/*') expect([name, type.split(';')[0]]).toEqual([name, kind]);
    const schema = content['application/json']?.schema;
    if (schema !== undefined) expect([name, flaws(schema, await reply.json())]).toEqual([name, []]);
    else await reply.body?.cancel();
  }
});

test('[A1][A11] it says how refusals are worded, in both media types, and that a call may be followed', async () => {
  const { paths } = await document();
  const { caller, asked } = await requests();
  const documented = await operations();
  for (const [name, { method, path, body }] of Object.entries(asked)) {
    for (const type of ['application/json', 'application/a2a+json']) {
      const headers = { 'a2a-version': '2.0', accept: type };
      const reply = await caller.rest(method, path, body, headers);
      // Content has no versions.
      if (reply.status === 200) continue;
      const schema = documented.get(name)?.responses.default?.content?.[type]?.schema ?? { not: {} };
      expect([name, reply.headers.get('content-type')]).toEqual([name, expect.stringContaining(type)]);
      expect([name, flaws(schema, await reply.json())]).toEqual([name, []]);
    }
  }
  const rpc = paths[BASE]?.post?.responses;
  const refused = await fetch(`${world().url}${caller.path}`, { method: 'POST', body: '{}' });
  expect(refused.status).toBe(401);
  const schema = rpc?.default?.content?.['application/json']?.schema ?? { not: {} };
  expect(flaws(schema, await refused.json())).toEqual([]);
  expect(Object.keys(rpc?.['200']?.content ?? {})).toEqual(['application/json', 'text/event-stream']);
});

test('[A2][A3] the cards and keys for everybody are in it, also as not changed', async () => {
  const { paths } = await document();
  const { handle } = world().space;
  const open: [string, string][] = [
    ['/.well-known/agent-card.json', '/.well-known/agent-card.json'],
    ['/@{handle}/.well-known/agent-card.json', `/@${handle}/.well-known/agent-card.json`],
    [
      `${BASE}/.well-known/agent-card.json`,
      `/@${handle}/${world().agent.agent.id}/.well-known/agent-card.json`,
    ],
    ['/.well-known/jwks.json', '/.well-known/jwks.json'],
  ];
  for (const [path, url] of open) {
    const described = paths[path]?.get?.responses ?? {};
    const reply = await fetch(world().url + url);
    const status = reply.status === 200 ? '200' : 'default';
    const schema = described[status]?.content?.['application/json']?.schema ?? { not: {} };
    expect([path, flaws(schema, await reply.json())]).toEqual([path, []]);
    expect([path, '304' in described]).toEqual([path, path.includes('card')]);
  }
});

test('[A1] every address that is served is in it', async () => {
  const known = new Set(Object.keys((await document()).paths).map((path) => path.replace(/:\w+$/, '')));
  const served = world()
    .running.routes.map(({ url }) => url.replace(/::\w+/g, '').replace(/:(\w+)/g, '{$1}'))
    .filter((path) => path.startsWith(`${BASE}/`) && !path.includes('*'));
  expect(served.length).toBeGreaterThan(10);
  expect(served.filter((path) => !known.has(path))).toEqual([]);
});
