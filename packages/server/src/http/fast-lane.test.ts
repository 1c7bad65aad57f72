import { once } from 'node:events';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { draft } from '../testing/wake.ts';
import { World } from '../testing/world.ts';
import { FastLanes, GrowingBody, JSON_HEADERS, type Lane, refuseFromLane } from './fast-lane.ts';

const BINDING = { host: '127.0.0.1', tls: false, proxies: [] };
const PLAIN = { 'content-type': 'application/json' };

/** A framework that answers "long" at one address, and a lane in front of it. */
async function open(lane: Lane, binding = BINDING) {
  const noted: string[] = [];
  const app = Fastify();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.setErrorHandler((error: Error, _, reply) => reply.code(418).send(`refused: ${error.message}`));
  app.route({
    method: ['POST', 'PUT'],
    url: '/hot',
    preParsing: refuseFromLane,
    handler: async () => 'long',
  });
  const lanes = new FastLanes(binding, (...note) => noted.push(note.slice(0, 2).join(' ')));
  lanes.add('/hot', lane);
  lanes.guard(app);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const send = async (over: RequestInit = {}, path = '/hot') => {
    const reply = await fetch(url + path, { method: 'POST', headers: PLAIN, body: '{}', ...over });
    return `${reply.status} ${await reply.text()}`;
  };
  return { send, lanes, noted, url };
}

const quick: Lane = () => async (body) => ({ status: 202, headers: JSON_HEADERS, body: `quick ${body}` });

it('[D26] a plain request is answered in front of the framework, and counted', async () => {
  const { send, noted } = await open(quick);
  expect(await send()).toBe('202 quick {}');
  expect(await send({ body: 'x'.repeat(300_000) })).toBe(`202 quick ${'x'.repeat(300_000)}`);
  expect(noted).toEqual(['/hot 202', '/hot 202']);
});

it('[W29] a body that comes by the byte is copied a few times and not once for each', () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251));
  const copied = vi.spyOn(Buffer.prototype, 'copy');
  onTestFinished(() => copied.mockRestore());
  const body = new GrowingBody();
  for (let n = 0; n < bytes.length; n++) body.add(bytes.subarray(n, n + 1));
  expect(body.whole?.equals(bytes)).toBe(true);
  const moved = copied.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
  expect(moved).toBeLessThan(4 * bytes.length);
});

it('[D26][W28] whoever sends headers and body together is asked for once, whose body is late once more', async () => {
  let asked = 0;
  const { url } = await open((...both) => {
    asked++;
    return quick(...both);
  });
  const send = async (late: boolean) => {
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    const head =
      'POST /hot HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n';
    socket.write(late ? head : `${head}{}`);
    if (late) {
      await vi.waitUntil(() => asked > 0);
      socket.write('{}');
    }
    const [reply] = await once(socket, 'data');
    socket.destroy();
    return String(reply).slice(9, 12);
  };
  expect([await send(false), asked]).toEqual(['202', 1]);
  asked = 0;
  expect([await send(true), asked]).toEqual(['202', 2]);
});

it.each<[string, RequestInit, string?]>([
  ['another method', { method: 'PUT' }],
  ['a query', {}, '/hot?x=1'],
  ['another type', { headers: { 'content-type': 'application/cloudevents+json' } }],
  ['an encoding', { headers: { ...PLAIN, 'content-encoding': 'identity' } }],
  ['a body of unknown length', { body: new Blob(['{}']).stream(), duplex: 'half' } as RequestInit],
])('[D26] %s goes the long way', async (_, over, path) => {
  const { send } = await open(quick);
  expect(await send(over, path)).toBe('200 long');
});

it('[W2] what did not come privately goes the long way, where it is refused', async () => {
  const { send } = await open(quick, { ...BINDING, host: '0.0.0.0' });
  expect(await send()).toBe('200 long');
});

it('[W1] who is not let in goes the long way with the body unread', async () => {
  const { send } = await open(() => Promise.reject(new Error('nobody')));
  expect(await send()).toBe('200 long');
});

it('[W7] what a lane refuses is refused by the long way, and nothing is done twice', async () => {
  let taken = 0;
  const { send, noted } = await open(() => async () => {
    taken++;
    throw new Error('not so');
  });
  expect(await send()).toBe('418 refused: not so');
  expect([taken, noted]).toEqual([1, []]);
});

it('[D26] on its way out the server takes the long way, which says goodbye', async () => {
  const { send, lanes } = await open(quick);
  lanes.close();
  expect(await send()).toBe('200 long');
});

it('[D26] a caller that leaves in the middle of its body is forgotten, and the next one is served', async () => {
  const { send, url, noted } = await open(quick);
  const half = ask(`${url}/hot`, { method: 'POST', headers: { ...PLAIN, 'content-length': '10' } });
  half.on('error', () => {});
  await new Promise<void>((resolve) => half.write('half', () => resolve()));
  half.destroy();
  expect(await send()).toBe('202 quick {}');
  expect(noted).toEqual(['/hot 202']);
});

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.stop());

const DELIVER = '/wake/v1/deliver';
/** A spelling of the same type that only the long way knows. */
const LONG = { 'content-type': 'application/json;charset=UTF-8' };

async function told(body: unknown, headers: Record<string, string>, key?: string) {
  const reply = await world.post(DELIVER, body, key, headers);
  // The framework hangs up after a body that it could not read; there is no need to.
  const names = [
    'date',
    'ratelimit-remaining',
    'ratelimit-reset',
    'content-length',
    'connection',
    'keep-alive',
  ];
  const shown = [...reply.headers].filter(([name]) => !names.includes(name));
  const text = `${reply.status} ${JSON.stringify(shown)} ${await reply.text()}`;
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'AT');
}

it.each<[string, () => unknown, Record<string, string>?, string?]>([
  ['a delivery', () => draft(world)],
  ['one with a key', () => draft(world), { 'idempotency-key': 'one' }],
  ['the same again', () => draft(world), { 'idempotency-key': 'one' }],
  ['another with that key', () => draft(world, { headline: 'Another' }), { 'idempotency-key': 'one' }],
  ['a key that is too long', () => draft(world), { 'idempotency-key': 'k'.repeat(1000) }],
  ['no headline', () => draft(world, { headline: null })],
  ['another agent', () => draft(world, { agent_id: 'agent-02' })],
  ['no object', () => '[]'],
  ['no JSON', () => '{"a":'],
  ['the same key twice', () => '{"a":1,"a":2}'],
  ['nothing', () => ''],
  ['a secret', () => draft(world, { details: { token: `ghp_${'a1B2'.repeat(9)}` } })],
  ['an unknown key', () => draft(world), {}, 'wk_test_nobody'],
  ['too much', () => draft(world, { details: { text: 'x'.repeat(1_100_000) } })],
])('[W7] %s is answered alike in front of the framework and by it', async (_, body, headers = {}, key) => {
  expect(await told(body(), headers, key)).toBe(await told(body(), { ...headers, ...LONG }, key));
});
