import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Browser } from '../testing/desk/browser.ts';
import { AT_ONCE, openDesk, refused, status } from '../testing/desk/desk.ts';
import { changesSomething, deskRoutes, fill } from '../testing/desk/routes.ts';
import { digests } from '../testing/stores/digests.ts';
import type { World } from '../testing/world.ts';

const ANY = () => '00000000-0000-4000-8000-000000000000';

/** A request to every address of the desk, with a body where one belongs. */
function knock(world: World, headers: Record<string, string>): { at: string; reply: Promise<Response> }[] {
  return deskRoutes(world).map((route) => ({
    at: `${route.method} ${route.url}`,
    reply: fetch(world.url + fill(route.url, ANY), {
      method: route.method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(changesSomething(route) ? { body: '{}' } : {}),
    }),
  }));
}

describe('agent keys', () => {
  const forms: [string, (key: string) => string][] = [
    ['a good key', (key) => `Bearer ${key}`],
    ['an unknown key', () => `Bearer wk_live_${'x'.repeat(38)}`],
    ['another spelling', (key) => `bearer  ${key}`],
    ['another scheme', (key) => `Token ${key}`],
    ['no scheme', (key) => key],
  ];

  test.each(forms)('[D5] %s is turned away at every address of the desk', async (_, form) => {
    const { world } = await openDesk();
    const before = await digests(world);
    const knocks = knock(world, { authorization: form(world.agent.key) });
    expect(knocks.length).toBeGreaterThan(25);
    for (const { at, reply } of knocks) {
      expect([at, await refused(reply)]).toEqual([at, { status: 403, code: 'agent_key_on_desk' }]);
    }
    expect(await digests(world)).toEqual(before);
  });

  test('[D5] also beside a good cookie', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const cookie = `lanternroom=${browser.cookies.get('lanternroom')}`;
    for (const { at, reply } of knock(world, { cookie, authorization: `Bearer ${world.agent.key}` })) {
      expect([at, await refused(reply)]).toEqual([at, { status: 403, code: 'agent_key_on_desk' }]);
    }
  });

  test('[D5] also in a second header, after the token of a person', async () => {
    const { world } = await openDesk();
    const secrets = [world.token, world.agent.key].flatMap((secret) => ['Authorization', `Bearer ${secret}`]);
    const headers = ['Host', new URL(world.url).host, ...secrets];
    const asked = request(`${world.url}/desk/deliveries`, { headers }).end();
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    expect(reply.resume().statusCode).toBe(403);
  });

  test('[D5] who decides comes from the session, never from the body', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const { person } = await world.addPerson('other@example.com', 'decider');
    const id = await world.deliver();
    const claims = { decided_by: person.id, person_id: person.id, actor: person.id, person: person.id };
    const reply = await world.decide(id, { status: 'approved', ...claims });
    expect(await reply.json()).toMatchObject({ decided_by: { person_id: world.owner.id } });
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(999, 9));
    const made = lines.find((line) => line.action === 'decision.made');
    expect(made?.actor).toBe(`person:${world.owner.id}`);
  });
});

describe('nobody', () => {
  test('[D2] gets past the doors that are open to everybody', async () => {
    const { world } = await openDesk();
    const open = [
      'POST /desk/session',
      'POST /desk/session/challenge',
      'POST /desk/session/passkey',
      'POST /desk/setup',
      'POST /desk/invitations/accept',
      'POST /desk/reset',
    ];
    for (const { at, reply } of knock(world, {})) {
      const expected = open.includes(at) ? [200, 400, 401, 410, 422] : [401];
      expect([at, expected.includes(await status(reply))]).toEqual([at, true]);
    }
  });

  test('[D4] gets in with what only looks like a token', async () => {
    const { world } = await openDesk();
    for (const token of ['lr_', `lr_${'x'.repeat(40)}`, 'st_x', 'Bearer', `${world.token}x`]) {
      expect(await refused(world.desk('GET', '/desk/session', undefined, token))).toMatchObject({
        status: 401,
      });
    }
  });
});

describe('another site', () => {
  test.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin that hides', { origin: 'null' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['this host over https', { origin: 'https://127.0.0.1' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site' }],
    ['something new', { 'sec-fetch-site': 'somewhere' }],
  ])('[D6] %s can change nothing, at any address', async (_, headers) => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const cookie = `lanternroom=${browser.cookies.get('lanternroom')}`;
    const before = await digests(world);
    const knocks = knock(world, { cookie, ...headers }).filter(({ at }) => !at.startsWith('GET'));
    expect(knocks.length).toBeGreaterThan(15);
    for (const { at, reply } of knocks) {
      expect([at, await refused(reply)]).toEqual([at, { status: 403, code: 'cross_site' }]);
    }
    expect(await digests(world)).toEqual(before);
  });

  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'text/json',
  ])('[D6] a form that sends %s is refused, at any address', async (type) => {
    const { world } = await openDesk();
    const before = await digests(world);
    const headers = { authorization: `Bearer ${world.token}`, 'content-type': type };
    for (const { at, reply } of knock(world, headers).filter((k) => !k.at.startsWith('GET'))) {
      expect([at, await refused(reply)]).toEqual([at, { status: 415, code: 'unsupported_media_type' }]);
    }
    expect(await digests(world)).toEqual(before);
  });

  test('[D6] our own page and scripts without a browser are not mistaken for one', async () => {
    const { world } = await openDesk();
    const read = async (headers: Record<string, string>) => {
      const id = await world.deliver();
      return status(
        new Browser(world, { authorization: `Bearer ${world.token}`, ...headers }).send(
          'POST',
          `/desk/deliveries/${id}/read`,
        ),
      );
    };
    expect(await read({})).toBe(200);
    expect(await read({ origin: world.url, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await read({ 'sec-fetch-site': 'none' })).toBe(200);
  });

  test('[D6] behind a proxy, the origin is the public one', async () => {
    const { world } = await openDesk({ env: { LANTERNROOM_TRUST_PROXY: '127.0.0.1' } });
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'desk.example.com' };
    const login = (origin: string) => status(new Browser(world, { ...forwarded, origin }).login());
    expect(await login('https://desk.example.com')).toBe(200);
    expect(await login('https://desk.example.com.evil.example')).toBe(403);
    expect(await login('https://desk.example.com:444')).toBe(403);
    expect(await login('http://desk.example.com')).toBe(403);
  });

  test('[D6] looking changes nothing, whatever is looked at', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const before = await digests(world);
    const ids: Record<string, string> = { id, key: world.agent.keyId };
    for (const { method, url } of deskRoutes(world).filter(
      (r) => r.method === 'GET' && r.url !== '/desk/stream',
    )) {
      for (const value of [id, world.agent.agent.id]) {
        await (
          await world.desk(
            method,
            fill(url, (name) => (name === 'id' ? value : (ids[name] ?? id))),
          )
        ).text();
      }
    }
    expect(await digests(world)).toEqual(before);
  });
});

describe('methods', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

  test('[D86] one that an address does not have is 405 and told what works, at every address', async () => {
    const { world } = await openDesk();
    const before = await digests(world);
    const served = new Map<string, string[]>();
    for (const { method, url } of deskRoutes(world)) served.set(url, [...(served.get(url) ?? []), method]);
    for (const [url, methods] of served) {
      const allow = METHODS.filter((m) => methods.includes(m)).join(', ');
      for (const method of [...METHODS, 'OPTIONS'].filter((m) => !methods.includes(m))) {
        const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'text/plain' };
        const body = method === 'GET' ? {} : { body: 'x' };
        const reply = await fetch(world.url + fill(url, ANY), { method, headers, ...body });
        const { error } = (await reply.json()) as { error: Record<string, unknown> };
        expect([method, url, reply.status, reply.headers.get('allow'), error.code]).toEqual([
          method,
          url,
          405,
          allow,
          'method_not_allowed',
        ]);
      }
    }
    expect(served.size).toBeGreaterThan(40);
    expect(await digests(world)).toEqual(before);
  });

  test('[D86] an address that is not there stays 404', async () => {
    const { world } = await openDesk();
    expect(await refused(world.desk('PUT', '/desk/nothing'))).toEqual({ status: 404, code: 'not_found' });
  });
});
