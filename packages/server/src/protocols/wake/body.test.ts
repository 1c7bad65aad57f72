import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { draft, refusal, sendRaw, told } from '../../testing/wake.ts';
import { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
const MIB = 1024 * 1024;

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.stop());

/** A delivery whose `details` are this JSON text, as it stands. */
function withDetails(json: string): string {
  return `${JSON.stringify(draft(world, { details: undefined })).slice(0, -1)},"details":${json}}`;
}

function send(json: string, headers: Record<string, string> = {}): Promise<Response> {
  return world.post(DELIVER, json, undefined, headers);
}

/** Objects from level 2, where `details` stands, down to this level. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}`;
}

it('[W11] a body of exactly 1 MiB is taken, one byte more is 413', async () => {
  const frame = withDetails('""').length;
  const body = (bytes: number) => withDetails(JSON.stringify('x'.repeat(bytes - frame)));
  expect(body(MIB)).toHaveLength(MIB);
  expect((await send(body(MIB))).status).toBe(201);
  expect(await refusal(send(body(MIB + 1)))).toEqual({
    status: 413,
    code: 'payload_too_large',
    message: expect.stringContaining('1 MiB'),
    docs: `${world.url}/docs/errors#payload_too_large`,
  });
});

it('[W11] a body that does not say how long it is meets the same limit', async () => {
  const head = [
    `POST ${DELIVER} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${world.agent.key}`,
    'content-type: application/json',
    'transfer-encoding: chunked',
  ];
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const reply = await sendRaw(world, [`${head.join('\r\n')}\r\n\r\n`, ...Array<string>(17).fill(chunk)]);
  expect(reply).toMatch(/^HTTP\/1\.1 413 /);
});

it.each(['content-length: 16777216', 'transfer-encoding: chunked'])(
  '[W11] whoever sends far too much reads why, and may go on (%s)',
  async (length) => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const heard: string[] = [];
    socket.on('data', (data) => heard.push(data.toString('utf8')));
    const head = [`POST ${DELIVER} HTTP/1.1`, 'host: x', `authorization: Bearer ${world.agent.key}`];
    const piece = 'x'.repeat(MIB);
    const isChunked = length.startsWith('transfer');
    socket.write(`${[...head, 'content-type: application/json', length].join('\r\n')}\r\n\r\n`);
    // As many clients do: all of it first, and only then a look at the answer.
    await pipeline(
      Readable.from(Array.from({ length: 16 }, () => (isChunked ? `100000\r\n${piece}\r\n` : piece))),
      socket,
      { end: false },
    );
    socket.write(
      `${isChunked ? '0\r\n\r\n' : ''}GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    await once(socket, 'end');
    expect(heard.join('').match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  },
);

it.each([DELIVER, '/wake/v2/deliver', '/wake/v1/responses', '/desk/session'])(
  '[W11] whoever asks to hang up and sends far too much to %s is heard out as well',
  async (path) => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const head = [`POST ${path} HTTP/1.1`, 'host: x', 'connection: close'];
    const about = [`authorization: Bearer ${world.agent.key}`, 'content-type: application/json'];
    socket.write(
      `${[...head, ...about, `content-length: ${16 * MIB}`].join('\r\n')}\r\n\r\n${'x'.repeat(MIB)}`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 4\d\d /);
    // Anything but a server that still listens breaks the line here.
    const rest = Array.from({ length: 15 }, () => 'x'.repeat(MIB));
    await pipeline(Readable.from(rest), socket, { end: false });
    await once(socket, 'end');
  },
);

it('[W1] without a Host it is refused in the shape of all else; what else somebody expects stops nobody', async () => {
  const about = [`authorization: Bearer ${world.agent.key}`, 'connection: close'];
  const ask = (...headers: string[]) =>
    sendRaw(world, [`${['GET /wake/v1/responses HTTP/1.1', ...about, ...headers].join('\r\n')}\r\n\r\n`]);
  expect(await ask()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":\{"code":"malformed_body"/);
  expect(await ask('host: x', 'expect: a miracle')).toMatch(/^HTTP\/1\.1 200 /);
});

it('[W11] 64 levels are taken, 65 are 400, in objects and in lists', async () => {
  expect((await send(withDetails(nested(64)))).status).toBe(201);
  expect(await refusal(send(withDetails(nested(65))))).toMatchObject({ status: 400, code: 'malformed_body' });
  const list = (levels: number) => `{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}`;
  expect((await send(withDetails(list(64)))).status).toBe(201);
  expect((await send(withDetails(list(65)))).status).toBe(400);
  expect((await send('['.repeat(500_000))).status).toBe(400);
});

it.each(['__proto__', 'constructor', 'prototype', '__pr\\u006fto__'])(
  '[W11] a key named %s is 400, at any depth',
  async (name) => {
    for (const details of [`{"${name}":{}}`, `{"a":[{"${name}":1}]}`]) {
      expect(await refusal(send(withDetails(details)))).toMatchObject({
        status: 400,
        code: 'malformed_body',
      });
    }
    const top = `{"${name}":{"agent_id":"agent-01"},${withDetails('null').slice(1)}`;
    expect((await send(top)).status).toBe(400);
    expect((await send(withDetails(`{"a":"${name}"}`))).status).toBe(201);
  },
);

it.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"x":{"b":1,"b":null}}', '[{"c":1,"c":1}]'])(
  '[W11] a key given twice is 400: %s',
  async (json) => {
    expect(await refusal(send(withDetails(`{"in":${json}}`)))).toMatchObject({
      status: 400,
      code: 'malformed_body',
      message: 'An object has the same key twice.',
    });
  },
);

it('[W11] a field given twice is 400: neither value is chosen', async () => {
  const twice = `${withDetails('null').slice(0, -1)},"headline":"Another headline"}`;
  expect(await refusal(send(twice))).toMatchObject({ status: 400, where: '/headline' });
});

it.each(['"\\ud800"', '"\\udc00"', '"a\\ud83dz"', '{"\\ud800":1}', '{"a":["\\ude00\\ud83d"]}'])(
  '[W11] half of a surrogate pair is 400: %s',
  async (json) => {
    expect(await refusal(send(withDetails(`{"in":${json}}`)))).toMatchObject({
      status: 400,
      code: 'malformed_body',
    });
  },
);

it('[W11] a whole pair, escaped or not, is one character', async () => {
  const body = JSON.stringify(draft(world)).replace('newsletter', '\\ud83e\\udd89');
  expect((await send(body)).status).toBe(201);
});

it('[W11] bytes that are not UTF-8, and a byte order mark, are 400', async () => {
  const post = (body: Uint8Array) =>
    fetch(world.url + DELIVER, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.agent.key}`, 'content-type': 'application/json' },
      body: Uint8Array.from(body),
    });
  const good = Buffer.from(withDetails('"é"'), 'utf8');
  expect((await post(good)).status).toBe(201);
  expect((await post(Buffer.from(withDetails('"é"'), 'latin1'))).status).toBe(400);
  expect((await post(Buffer.from(withDetails('"é"'), 'utf16le'))).status).toBe(400);
  expect((await post(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), good]))).status).toBe(400);
});

it('[W11] a refusal never repeats what the body held', async () => {
  const secret = 'correct-horse-battery-staple';
  for (const body of [`{"a":"${secret}"`, `{"${secret}":1,}`, `${secret}`]) {
    const { status, text } = await told(send(body));
    expect(status).toBe(400);
    expect(text).not.toContain(secret);
  }
});

it.each([
  'text/plain',
  'text/json',
  'application/jsonp',
  'application/json-patch+json',
  'application/vnd.api+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
])('[W11] a body that is %s is 415', async (type) => {
  expect(await refusal(send(withDetails('null'), { 'content-type': type }))).toEqual({
    status: 415,
    code: 'unsupported_media_type',
    message: expect.stringContaining('application/json'),
    docs: `${world.url}/docs/errors#unsupported_media_type`,
  });
});

it('[W11] a body without a type is 415', async () => {
  const reply = fetch(world.url + DELIVER, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.agent.key}` },
    body: new Blob([withDetails('null')]),
  });
  expect(await refusal(reply)).toMatchObject({ status: 415 });
});

it.each([
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json;charset=UTF-8',
])('[W11] %s is JSON', async (type) => {
  expect((await send(withDetails('null'), { 'content-type': type })).status).toBe(201);
});

it.each(['gzip', 'deflate', 'br', 'identity'])('[W11] a body encoded as %s is 415', async (encoding) => {
  const refused = await refusal(send(withDetails('null'), { 'content-encoding': encoding }));
  expect(refused).toMatchObject({ status: 415, code: 'unsupported_media_type' });
});
