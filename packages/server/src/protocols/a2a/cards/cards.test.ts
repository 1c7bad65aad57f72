import {
  base64url,
  createLocalJWKSet,
  decodeProtectedHeader,
  type FlattenedJWS,
  flattenedVerify,
} from 'jose';
import { describe, expect, test } from 'vitest';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { Signer } from '../../../http/signing/signer.ts';
import {
  aCallerToken,
  aLaptop,
  anAgent,
  changeCard,
  TestCaller,
  useWorld,
  v1Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { until } from '../../../testing/waiting.ts';
import { openWorld } from '../../../testing/wake.ts';
import { ManualClock } from '../../../testing/world.ts';

const clock = new ManualClock();
const world = useWorld({ clock });

function cardOf(
  agent: MadeAgent,
  headers: Record<string, string> = {},
  name = 'agent-card.json',
): Promise<Response> {
  return fetch(`${world().url}/@home/${agent.agent.id}/.well-known/${name}`, { headers });
}

async function readCard(agent: MadeAgent, headers: Record<string, string> = {}): Promise<Wire> {
  return (await (await cardOf(agent, headers)).json()) as Wire;
}

describe('addresses', () => {
  test('[A1] a card is at both well-known names, and its address ends with a slash', async () => {
    const agent = await anAgent(world());
    const url = `${world().url}/@home/${agent.agent.id}/`;
    for (const name of ['agent-card.json', 'agent.json']) {
      const reply = await cardOf(agent, {}, name);
      expect([reply.status, ((await reply.json()) as Wire).url]).toEqual([200, url]);
    }
  });

  test('[A1] an agent is called with and without the trailing slash', async () => {
    const agent = await anAgent(world());
    const caller = new TestCaller(world(), agent);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tasks/get', params: { id: 'nobody' } });
    for (const path of [caller.path, `${caller.path}/`]) {
      const reply = await world().post(path, body, agent.key);
      expect([reply.status, await reply.json()]).toMatchObject([200, { id: 7, error: { code: -32001 } }]);
    }
    const read = await world().get(caller.path, agent.key);
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('[A1] an escaped @ or : is the same address', async () => {
    const agent = await anAgent(world());
    const card = await fetch(`${world().url}/%40home/${agent.agent.id}/.well-known/agent-card.json`);
    expect(card.status).toBe(200);
    const caller = new TestCaller(world(), agent, { version: '1.0' });
    const sent = await caller.rest('POST', '/message%3Asend', v1Message('Hello'));
    const { task } = (await sent.json()) as { task: { id: string } };
    const canceled = await caller.rest('POST', `/tasks/${task.id}%3acancel`, {});
    expect(await canceled.json()).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    // Twice escaped is another name.
    const other = await fetch(`${world().url}/%2540home/${agent.agent.id}/.well-known/agent-card.json`);
    expect(other.status).toBe(404);
  });

  test('[A1] the address of a space serves its only agent, and lists the addresses of several', async () => {
    const lone = await world().addSpace('lone');
    const agent = await world().addAgent({ id: 'hermit', space: lone.id });
    const only = await fetch(`${world().url}/@lone/.well-known/agent-card.json`);
    expect(await only.json()).toMatchObject({ name: `@lone/${agent.agent.id}` });
    const several = await fetch(`${world().url}/@home/.well-known/agent-card.json`);
    const body = (await several.json()) as { error: { agents: string[] } };
    expect(several.status).toBe(404);
    expect(body.error.agents).toContain(`${world().url}/@home/agent-01/.well-known/agent-card.json`);
    const nobody = await fetch(`${world().url}/@nobody/.well-known/agent-card.json`);
    expect([nobody.status, await nobody.json()]).toMatchObject([404, { error: { agents: [] } }]);
  });

  test('[A1] the address of the server does so while there is one space, and names no tenants later', async () => {
    const alone = await openWorld();
    const root = () => fetch(`${alone.url}/.well-known/agent-card.json`);
    expect(await (await root()).json()).toMatchObject({ name: `@home/${alone.agent.agent.id}` });
    await alone.addSpace('second');
    const among = await root();
    expect([among.status, await among.text()]).toEqual([404, expect.not.stringContaining('home')]);
  });
});

describe('cards', () => {
  test('[A2] a card for everybody has what 1.0, 0.3 and the seed look for', async () => {
    const agent = await anAgent(world());
    const card = await readCard(agent);
    const url = `${world().url}/@home/${agent.agent.id}/`;
    expect(card).toMatchObject({
      name: `@home/${agent.agent.id}`,
      url,
      version: '1.0.0',
      protocolVersion: '0.3.0',
      preferredTransport: 'JSONRPC',
      provider: { organization: '@home', url: `${world().url}/` },
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      securitySchemes: {
        key: { type: 'http', scheme: 'Bearer', httpAuthSecurityScheme: { scheme: 'Bearer' } },
      },
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      skills: [{ id: 'default', description: `The agent ${agent.agent.id}.`, tags: ['agent'] }],
    });
    expect(JSON.stringify(card)).not.toMatch(/\[\]|\{\}|""/);
  });

  test('[A2] with A2A-Version 1.x it is pure 1.0', async () => {
    const agent = await anAgent(world());
    for (const version of ['1.0', '1.7']) {
      const card = await readCard(agent, { 'a2a-version': version });
      expect(card).not.toHaveProperty('url');
      expect(card).not.toHaveProperty('preferredTransport');
      expect(card).not.toHaveProperty('security');
      expect(card.securitySchemes).toEqual({
        key: { httpAuthSecurityScheme: expect.objectContaining({ scheme: 'Bearer' }) },
      });
    }
  });

  test('[A2] it can be kept: ETag, Vary, Cache-Control and Last-Modified, and 304 while nothing changed', async () => {
    const agent = await anAgent(world());
    const reply = await cardOf(agent);
    const etag = reply.headers.get('etag') ?? '';
    expect(reply.headers.get('vary')).toContain('A2A-Version');
    expect(reply.headers.get('cache-control')).toBe('public, max-age=60');
    expect(Date.parse(reply.headers.get('last-modified') ?? '')).not.toBeNaN();
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      const again = await cardOf(agent, { 'if-none-match': known });
      expect([known, again.status, await again.text()]).toEqual([known, 304, '']);
    }
    await changeCard(world(), agent, { description: 'Reviews deployments' });
    const changed = await cardOf(agent, { 'if-none-match': etag });
    expect([changed.status, ((await changed.json()) as Wire).description]).toEqual([
      200,
      'Reviews deployments',
    ]);
  });

  test('[A2] it shows what a person has written, and needs no key unless the agent is private', async () => {
    const agent = await anAgent(world());
    const skills = [
      { id: 'deploy-review', name: 'Deploy Review', description: 'Reviews deployments', tags: ['deploy'] },
    ];
    await changeCard(world(), agent, {
      skills,
      inputModes: ['text/markdown'],
      visibility: 'listed',
      isPrivate: true,
    });
    const authorization = `Bearer ${agent.key}`;
    expect(await readCard(agent, { authorization })).toMatchObject({
      skills,
      defaultInputModes: ['text/markdown'],
    });
    const token = await aCallerToken(world(), agent);
    expect((await cardOf(agent, { authorization: `Bearer ${token}` })).status).toBe(200);
    const stranger = await cardOf(agent);
    const unknown = await fetch(`${world().url}/@home/nobody/.well-known/agent-card.json`);
    expect([stranger.status, await stranger.text()]).toEqual([404, await unknown.text()]);
  });

  test('[A2] a public agent asks for no credentials', async () => {
    const agent = await anAgent(world());
    await changeCard(world(), agent, { visibility: 'public' });
    const card = await readCard(agent);
    expect(card).not.toHaveProperty('security');
    expect(card).not.toHaveProperty('securityRequirements');
  });
});

/** RFC 8785 for what a card holds: strings, lists and objects. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

test.each([{}, { 'a2a-version': '0.3' }, { 'a2a-version': '1.0' }])(
  '[A3] the card for %j is signed as it is shown, for whoever knows no version of ours',
  async (headers) => {
    const agent = await anAgent(world());
    const { signatures, ...shown } = await readCard(agent, headers as Record<string, string>);
    const jwks = await (await fetch(`${world().url}/.well-known/jwks.json`)).json();
    const [first] = signatures as FlattenedJWS[];
    const jws = { ...first, payload: base64url.encode(canonical(shown)) } as FlattenedJWS;
    await expect(flattenedVerify(jws, createLocalJWKSet(jwks as never))).resolves.toBeDefined();
    const forged = {
      ...jws,
      payload: base64url.encode(canonical({ ...shown, url: 'https://evil.example/' })),
    };
    await expect(flattenedVerify(forged, createLocalJWKSet(jwks as never))).rejects.toThrow();
  },
);

test('[A3] two keys are published during a rotation, and the new one signs', async () => {
  const agent = await anAgent(world());
  const kid = (card: Wire) =>
    decodeProtectedHeader((card.signatures as { protected: string }[])[0] as never).kid;
  const published = async () =>
    ((await (await fetch(`${world().url}/.well-known/jwks.json`)).json()) as { keys: Wire[] }).keys;
  const before = kid(await readCard(agent));
  expect((await published()).map((key) => key.kid)).toEqual([before]);
  await new Signer(world().room).rotate();
  clock.turn(61_000_000);
  const after = kid(await readCard(agent));
  const keys = await published();
  expect(after).not.toBe(before);
  expect(keys.map((key) => key.kid)).toEqual([after, before]);
  for (const key of keys) expect(Object.keys(key)).not.toContain('d');
});

describe('presence', () => {
  test('[A14][A23] the card says whether the agent is there, and when it last was', async () => {
    const agent = await anAgent(world());
    const presence = async () => {
      const { capabilities } = (await readCard(agent)) as {
        capabilities: { extensions: { params: Wire }[] };
      };
      return capabilities.extensions[0]?.params;
    };
    expect(await presence()).toEqual({ state: 'asleep' });
    const laptop = await aLaptop(world(), agent);
    await until(async () => (await presence())?.state === 'online'); // written down after the hello
    expect(await presence()).toEqual({ state: 'online' });
    await laptop.close();
    await until(async () => (await presence())?.state === 'asleep');
    expect(Date.parse(String((await presence())?.lastSeenAt))).not.toBeNaN();
  });

  test('[A23] the extended card needs a credential', async () => {
    const agent = await anAgent(world());
    await changeCard(world(), agent, { visibility: 'public' });
    const stranger = await new TestCaller(world(), agent, { version: '1.0', key: null }).rest(
      'GET',
      '/extendedAgentCard',
    );
    expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="a2a"']);
    expect(await stranger.text()).toContain('The extended card is for those who say who they are.');
    const known = await new TestCaller(world(), agent, { version: '1.0' }).call('GetExtendedAgentCard', {});
    expect(JSON.stringify(known.result)).toContain('"visibility":"public"');
  });
});

test('[A3] a rotation that the store did not take is forgotten: the earlier key keeps signing', async () => {
  const own = await openWorld();
  const signer = new Signer(own.room);
  const before = await signer.currentId();
  await own.sql('alter table signing_keys rename to signing_keys_elsewhere');
  await expect(signer.rotate()).rejects.toThrow();
  await own.sql('alter table signing_keys_elsewhere rename to signing_keys');
  expect(await signer.currentId()).toBe(before);
});
