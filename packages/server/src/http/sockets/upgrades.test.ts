import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { draft, openWorld } from '../../testing/wake.ts';
import { Upgrades } from './upgrades.ts';

const ASK = ['GET /slow HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', '', ''].join(
  '\r\n',
);

test('[A13] whoever resets an upgrade while their key is looked up ends their own connection, and nothing else', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const taken = new Promise<Duplex>((resolve) => {
    const upgrades = new Upgrades();
    upgrades.serve('/slow', (_, socket) => resolve(socket)); // and never answers
    upgrades.attach(server, { isPrivate: () => true, isFromElsewhere: () => false });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(ASK);
  const socket = await taken;
  const closed = new Promise((resolve) => socket.on('close', resolve));
  client.resetAndDestroy();
  await closed;
  expect(socket.destroyed).toBe(true);
  expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
});

test('[W10] a request to upgrade to HTTP/2 is answered like any other, body and all', async () => {
  const world = await openWorld();
  const body = JSON.stringify(draft(world));
  const head = [
    'POST /wake/v1/deliver HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${world.agent.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAAP__',
  ];
  const client = connect(Number(new URL(world.url).port), '127.0.0.1');
  client.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
  client.write(body.slice(10));
  let said = '';
  for await (const chunk of client) said += String(chunk);
  expect(said).toMatch(/^HTTP\/1\.1 201 [\s\S]*"status":"received"/);
});

const TURNED_AWAY = {
  'who asks for an upgrade where there is none': ASK.replace('/slow', '/nowhere'),
  'who has no key for one': ASK.replace('/slow', '/a2a/connect'),
  'who does not speak HTTP': 'HELLO\r\n\r\n',
};

test.each(Object.entries(TURNED_AWAY))(
  '[W1] %s is told so and let go, also when they never hang up',
  async (_, text) => {
    const world = await openWorld();
    const client = connect({ port: Number(new URL(world.url).port), host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    client.on('error', () => {});
    client.write(text);
    let said = '';
    for await (const chunk of client.iterator({ destroyOnReturn: false })) said += String(chunk);
    expect(said).toMatch(/^HTTP\/1\.1 4/);
    // Nobody is at the other end any more: what is sent there is answered with a reset.
    while (!client.destroyed) {
      client.write('x');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(client.errored).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
  },
);

const ORIGINS: [string, (url: string) => string, number][] = [
  ['a page of another site', () => 'https://elsewhere.example', 403],
  ['a page that hides where it is from', () => 'null', 403],
  ['another port of this machine', () => 'http://127.0.0.1:1', 403],
  ['a client that names us', (url) => url, 101],
];

test.each(ORIGINS)('[D6] a WebSocket asked for by %s', async (_, origin, status) => {
  const world = await openWorld();
  for (const path of ['/a2a/connect', '/akep/relay']) {
    const client = connect(Number(new URL(world.url).port), '127.0.0.1');
    onTestFinished(() => void client.destroy());
    const head = [
      `GET ${path} HTTP/1.1`,
      `Host: ${new URL(world.url).host}`,
      `Authorization: Bearer ${world.agent.key}`,
      `Origin: ${origin(world.url)}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    client.write(`${head.join('\r\n')}\r\n\r\n`);
    const [said] = (await once(client, 'data')) as [Buffer];
    expect([path, String(said).slice(0, 12)]).toEqual([path, `HTTP/1.1 ${status}`]);
  }
});
