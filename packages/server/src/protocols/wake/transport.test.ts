import { get, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { readConfig, UsageError } from '../../config.ts';
import { HOUR } from '../../core/time.ts';
import { openGround, startServer } from '../../main.ts';
import { testCa } from '../../testing/network/receivers.ts';
import { draft, ledger, openWorld, refusal } from '../../testing/wake.ts';
import { ManualClock, temporaryFolder, type World } from '../../testing/world.ts';

/** An address of this machine that others could use too; on a machine without one, loopback stands for it. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find((entry) => entry.family === 'IPv4' && !entry.internal)?.address ?? '127.0.0.1';
}

const ADDRESS = ownAddress();
const OPEN_HOST = { LANTERNROOM_HOST: '0.0.0.0' };

/** Where the server is met from outside. */
function outside(world: World): string {
  return `http://${ADDRESS}:${new URL(world.url).port}`;
}

function from(world: World, path: string, key: string, headers: Record<string, string> = {}) {
  return fetch(outside(world) + path, { headers: { authorization: `Bearer ${key}`, ...headers } });
}

/** The status of a delivery over TLS, from a client that trusts the test authority. */
function deliverOverTls(world: World): Promise<number | undefined> {
  const { port } = new URL(world.url);
  const headers = { authorization: `Bearer ${world.agent.key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { host: ADDRESS, port, path: '/wake/v1/deliver', method: 'POST', headers };
    request({ ...options, ca: testCa, servername: 'receiver.test', agent: false }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode));
    })
      .on('error', reject)
      .end(JSON.stringify(draft(world)));
  });
}

it('[W2] on loopback, plain HTTP is fine for both tiers, and nothing is noted', async () => {
  const world = await openWorld();
  const live = await world.addAgent({ id: 'live', tier: 'live' });
  expect((await world.get('/wake/v1/responses')).status).toBe(200);
  expect((await world.get('/wake/v1/responses', live.key)).status).toBe(200);
  expect(await ledger(world, 'key.exposed')).toEqual([]);
});

it('[W2] off loopback, plain HTTP is refused and not redirected, whatever was asked', async () => {
  const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: '198.51.100.7' } });
  for (const path of [
    '/wake/v1/responses',
    '/wake/v1/nothing',
    '/.well-known/wake.json',
    '/wake/v1/response/%ZZ',
  ]) {
    const reply = await from(world, path, world.agent.key);
    expect(reply.headers.get('location')).toBeNull();
    expect(await refusal(Promise.resolve(reply))).toMatchObject({ status: 403, code: 'https_required' });
  }
});

it('[W2] a delivery over plain HTTP is refused before its key is tried, and is not stored', async () => {
  const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: ADDRESS } });
  const send = (headers: Record<string, string>) =>
    fetch(`${outside(world)}/wake/v1/deliver`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(draft(world)),
    });
  const plain = { 'x-forwarded-proto': 'http' };
  for (const authorization of [`Bearer ${world.agent.key}`, `Bearer wk_test_${'x'.repeat(38)}`, 'nonsense']) {
    expect(await refusal(send({ authorization, ...plain }))).toMatchObject({
      status: 403,
      code: 'https_required',
    });
  }
  const swept = await from(world, '/wake/v1/responses', world.agent.key, { 'x-forwarded-proto': 'https' });
  expect(await swept.json()).toMatchObject({ total: 0 });
});

it('[W2] a live key that came in the clear is noted in the ledger; a test key and an unknown one are not', async () => {
  const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: ADDRESS } });
  const live = await world.addAgent({ id: 'live', tier: 'live' });
  await from(world, '/wake/v1/responses', world.agent.key);
  await from(world, '/wake/v1/responses', `wk_live_${'x'.repeat(38)}`);
  const lines = () => world.room.store.read(world.space.id, (tx) => tx.ledger.page(0, 100));
  expect((await lines()).map((line) => line.action)).not.toContain('key.exposed');
  await from(world, '/wake/v1/responses', live.key);
  const noted = (await lines()).filter((line) => line.action === 'key.exposed');
  expect(noted).toMatchObject([{ actor: 'system', subject: 'live' }]);
  expect(JSON.parse(noted[0]?.data ?? '')).toEqual({ key: live.keyId, from: ADDRESS });
  expect(JSON.stringify(noted)).not.toContain(live.key);
});

it('[W2] a live key that keeps coming in the clear is noted once an hour, and does not fill the ledger', async () => {
  const clock = new ManualClock();
  const world = await openWorld({ clock, env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: ADDRESS } });
  const live = await world.addAgent({ id: 'live', tier: 'live' });
  const other = await world.addAgent({ id: 'other', tier: 'live' });
  const poll = (key: string) => from(world, '/wake/v1/responses', key);
  const noted = async () => {
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.page(0, 100));
    return lines.filter((line) => line.action === 'key.exposed').map((line) => line.subject);
  };
  await Promise.all([poll(live.key), poll(live.key), poll(live.key)]);
  expect(await noted()).toEqual(['live']);
  await poll(other.key);
  expect(await noted()).toEqual(['live', 'other']);
  clock.turn(HOUR);
  await poll(live.key);
  expect(await noted()).toEqual(['live', 'other', 'live']);
});

it.each(['/a2a/connect', '/akep/relay', '/nowhere'])(
  '[W2] a live key that asks for a WebSocket at %s in the clear is refused and noted as well',
  async (path) => {
    const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: ADDRESS } });
    const live = await world.addAgent({ id: 'live', tier: 'live' });
    const asking = { connection: 'Upgrade', upgrade: 'websocket', authorization: `Bearer ${live.key}` };
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      get(outside(world) + path, { headers: asking }, resolve).on('error', reject);
    });
    expect([reply.statusCode, await text(reply)]).toEqual([403, expect.stringContaining('Use https')]);
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.page(0, 100));
    expect(lines.filter((line) => line.action === 'key.exposed')).toMatchObject([{ subject: 'live' }]);
  },
);

it('[W2] behind a trusted proxy the forwarded protocol decides', async () => {
  const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: ADDRESS } });
  const status = async (proto: string) =>
    (await from(world, '/wake/v1/responses', world.agent.key, { 'x-forwarded-proto': proto })).status;
  expect(await status('https')).toBe(200);
  expect(await status('HTTPS')).toBe(200);
  expect(await status('http, https')).toBe(200);
  for (const plain of ['http', 'https, http', 'httpss', 'wss', ''])
    expect([plain, await status(plain)]).toEqual([plain, 403]);
});

it('[W2] what an unknown proxy forwards is not believed', async () => {
  const world = await openWorld({
    env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: '198.51.100.7,203.0.113.0/24' },
  });
  const headers = {
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'proto=https',
  };
  expect((await from(world, '/wake/v1/responses', world.agent.key, headers)).status).toBe(403);
});

it('[W2] a proxy on this machine is believed when it says that the caller came without TLS', async () => {
  const world = await openWorld({ env: { LANTERNROOM_TRUST_PROXY: '127.0.0.1' } });
  const status = async (headers: Record<string, string>) =>
    (await world.get('/wake/v1/responses', undefined, headers)).status;
  expect(await status({})).toBe(200);
  expect(await status({ 'x-forwarded-proto': 'https' })).toBe(200);
  expect(await status({ 'x-forwarded-proto': 'http' })).toBe(403);
});

it('[W2] health is answered in the clear, for probes bring no key', async () => {
  const world = await openWorld({ env: { ...OPEN_HOST, LANTERNROOM_TRUST_PROXY: '198.51.100.7' } });
  for (const path of ['/healthz', '/readyz'])
    expect((await from(world, path, world.agent.key)).status).toBe(200);
});

it.each(['0.0.0.0', '::', '192.0.2.10', 'desk.example.com'])(
  '[W2] listening on %s without TLS or a proxy refuses to start, with three ways out',
  async (host) => {
    const config = readConfig({
      flags: { port: '0', data: temporaryFolder(), host },
      env: { LANTERNROOM_LOG: 'silent' },
    });
    const ground = await openGround(config);
    const starting = startServer(config, ground);
    await expect(starting).rejects.toBeInstanceOf(UsageError);
    await expect(starting).rejects.toThrow(/--host 127\.0\.0\.1.*--tls-cert.*--trust-proxy/s);
    await ground.stop();
  },
);

it('[W2] a proxy that is not an address: the server refuses to start, and names it', async () => {
  const env = { LANTERNROOM_TRUST_PROXY: '10.0.0.0/99', LANTERNROOM_LOG: 'silent' };
  const config = readConfig({ flags: { port: '0', data: temporaryFolder() }, env });
  const ground = await openGround(config);
  await expect(startServer(config, ground)).rejects.toThrow('"10.0.0.0/99" is neither an address');
  await ground.stop();
});

it('[W2] with a certificate of its own, other addresses are fine', async () => {
  const folder = new URL('../../testing/network/tls/', import.meta.url);
  const tls = {
    LANTERNROOM_HOST: '0.0.0.0',
    LANTERNROOM_TLS_CERT: new URL('receiver.pem', folder).pathname,
    LANTERNROOM_TLS_KEY: new URL('receiver.key', folder).pathname,
  };
  const world = await openWorld({ env: tls });
  expect(world.url).toMatch(/^https:/);
  expect(await deliverOverTls(world)).toBe(201);
});

it('[W2] whoever speaks plain HTTP to a server with TLS is told to use https', async () => {
  const folder = new URL('../../testing/network/tls/', import.meta.url);
  const world = await openWorld({
    env: {
      LANTERNROOM_TLS_CERT: new URL('receiver.pem', folder).pathname,
      LANTERNROOM_TLS_KEY: new URL('receiver.key', folder).pathname,
    },
  });
  const { port } = new URL(world.url);
  const url = `http://127.0.0.1:${port}/wake/v1/deliver`;
  const headers = { authorization: `Bearer ${world.agent.key}`, 'content-type': 'application/json' };
  for (const asked of [{}, { method: 'POST', headers, body: JSON.stringify(draft(world)) }])
    expect(await refusal(fetch(url, asked))).toMatchObject({ status: 403, code: 'https_required' });
});
