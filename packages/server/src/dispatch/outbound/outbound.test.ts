import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  makeOutbound,
  manualClock,
  PUBLIC,
  post,
  publicAre,
  toLoopback,
} from '../../testing/network/outbound.ts';
import { httpReceiver, rawReceiver, serve, signal } from '../../testing/network/receivers.ts';

const GENERIC = 'The receiver could not be reached or did not answer properly.';

function failure(kind: string) {
  return { ok: false, kind, message: GENERIC, durationMs: expect.any(Number) };
}

describe('what is sent', () => {
  test('[W21] the body leaves byte for byte, with our headers and no others', async () => {
    const arrived = signal<{ url: string; headers: Record<string, unknown>; body: Buffer }>();
    const receiver = await httpReceiver(async (req, res) => {
      const body = Buffer.concat(await req.toArray());
      arrived.fire({ url: req.url ?? '', headers: req.headers, body });
      res.writeHead(202, { 'content-type': 'text/plain' }).end('thanks');
    });
    const body = Buffer.from('{"é":"\u2028"}', 'utf8');
    const request = toLoopback(receiver.port, { body, headers: { 'X-Wake-Delivery-Id': 'd1' } });
    const outcome = await makeOutbound().send({ ...request, url: `${request.url}?q=%2f` });
    const { url, headers, body: received } = await arrived.seen;
    expect(url).toBe('/hook?q=%2f');
    expect(received.equals(body)).toBe(true);
    expect(headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'accept-encoding': 'identity',
      'user-agent': 'Lanternroom',
      'x-wake-delivery-id': 'd1',
      'content-length': String(body.length),
    });
    expect(outcome).toMatchObject({
      ok: true,
      status: 202,
      truncated: false,
      headers: { contentType: 'text/plain' },
    });
    expect(outcome.ok && outcome.bodyStart.toString()).toBe('thanks');
  });

  test.each([
    ['a line break in a value', { headers: { 'x-a': 'b\r\nx-evil: 1' } }],
    ['a bare LF in a value', { headers: { 'x-a': 'b\nx-evil: 1' } }],
    ['a NUL in a value', { headers: { 'x-a': 'b\0' } }],
    ['a line break in a name', { headers: { 'x-a\r\nx-evil': '1' } }],
    ['an empty name', { headers: { '': '1' } }],
    ['a cookie', { headers: { Cookie: 'session=1' } }],
    ['another Host', { headers: { Host: 'internal' } }],
    ['a length of its own', { headers: { 'Content-Length': '3' } }],
    ['Transfer-Encoding', { headers: { 'transfer-encoding': 'chunked' } }],
    ['Connection', { headers: { connection: 'upgrade' } }],
    ['Expect', { headers: { expect: '100-continue' } }],
    ['a proxy header', { headers: { 'Proxy-Authorization': 'x' } }],
    ['a body on GET', { method: 'GET' as const }],
  ])('[W21] %s is refused before anything is dialled', async (_what, wrong) => {
    const receiver = await httpReceiver((_req, res) => res.end());
    expect(await makeOutbound().send(toLoopback(receiver.port, wrong))).toEqual(failure('refused_request'));
    expect(receiver.connections).toEqual([]);
  });

  test.each([
    'http://receiver.example/',
    'http://8.8.8.8/',
    'ftp://receiver.example/',
    'https://user@receiver.example/',
    'https://:pw@receiver.example/',
    'nonsense',
  ])('[W21] only https without userinfo leaves this machine: %s', async (url) => {
    const lookup = () => expect.unreachable('nobody may be asked');
    expect(await makeOutbound({ lookup }).send(post(url, { allowLoopback: true }))).toEqual(
      failure('refused_request'),
    );
  });

  test('[W21] proxy settings of the environment are not followed', async () => {
    const proxy = await httpReceiver((_req, res) => res.end('proxied'));
    const receiver = await httpReceiver((_req, res) => res.end('direct'));
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    const outcome = await makeOutbound().send(toLoopback(receiver.port));
    for (const name of names) delete process.env[name];
    expect(outcome.ok && outcome.bodyStart.toString()).toBe('direct');
    expect(proxy.connections).toEqual([]);
  });
});

describe('what comes back', () => {
  test.each([200, 204, 301, 404, 410, 500, 503])(
    '[W22] %i is an answer, for the schedule to judge',
    async (status) => {
      const receiver = await httpReceiver((_req, res) =>
        res.writeHead(status, { 'retry-after': '120' }).end(),
      );
      const outcome = await makeOutbound().send(toLoopback(receiver.port));
      expect(outcome).toMatchObject({ ok: true, status, headers: { retryAfter: '120' } });
    },
  );

  test.each([301, 302, 303, 307, 308])('[W21] a %i is not followed', async (status) => {
    const target = await httpReceiver((_req, res) => res.end());
    const location = `http://127.0.0.1:${target.port}/`;
    const receiver = await httpReceiver((_req, res) => res.writeHead(status, { location }).end());
    expect(await makeOutbound().send(toLoopback(receiver.port))).toMatchObject({ ok: true, status });
    expect(target.connections).toEqual([]);
  });

  test('[W21] a compressed reply is never decoded', async () => {
    const bomb = gzipSync(Buffer.alloc(1 << 20));
    const receiver = await httpReceiver((_req, res) =>
      res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const outcome = await makeOutbound().send(toLoopback(receiver.port));
    expect(outcome.ok && outcome.bodyStart.equals(bomb)).toBe(true);
  });

  test('[W22] of an endless reply 64 KiB are read, and the connection is cut', async () => {
    const cut = signal();
    const receiver = await httpReceiver((_req, res) => {
      res.on('close', cut.fire);
      const more = () => {
        while (res.write(Buffer.alloc(16_384, 'x')));
      };
      res.on('drain', more);
      more();
    });
    const outcome = await makeOutbound().send(toLoopback(receiver.port));
    expect(outcome).toMatchObject({ ok: true, status: 200, truncated: true });
    expect(outcome.ok && outcome.bodyStart.length).toBe(65_536);
    await cut.seen;
  });

  test('[W22] a reply of exactly the limit is whole, one byte more is not', async () => {
    const receiver = await httpReceiver((req, res) =>
      res.end(Buffer.alloc(req.url === '/hook?more' ? 101 : 100)),
    );
    const outbound = makeOutbound();
    const request = toLoopback(receiver.port, { maxReplyBytes: 100 });
    expect(await outbound.send(request)).toMatchObject({ bodyStart: { length: 100 }, truncated: false });
    const longer = { ...request, url: `${request.url}?more` };
    expect(await outbound.send(longer)).toMatchObject({ bodyStart: { length: 100 }, truncated: true });
  });

  test.each([
    ['no HTTP', 'garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['binary noise', 'garbage', '\u0000\u0001\u0002\r\n\r\n'],
    ['a bad status line', 'garbage', 'HTTP/1.1 banana\r\n\r\n'],
    ['two lengths', 'garbage', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a bad chunk', 'garbage', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    [
      'an unasked 100',
      'garbage',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    ],
    ['an unasked upgrade', 'garbage', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['endless early hints', 'garbage', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)],
    ['a huge header', 'too_large', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['many headers', 'too_large', `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaa\r\n'.repeat(2000)}\r\n`],
  ])('[W22] %s is %s', async (_what, kind, bytes) => {
    const receiver = await rawReceiver((socket) => socket.end(bytes));
    expect(await makeOutbound().send(toLoopback(receiver.port))).toEqual(failure(kind));
  });

  test('[W22] early hints are skipped, the answer counts', async () => {
    const bytes =
      'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok';
    const receiver = await rawReceiver((socket) => socket.end(bytes));
    const outcome = await makeOutbound().send(toLoopback(receiver.port));
    expect(outcome).toMatchObject({ ok: true, status: 201 });
  });

  test.each([
    ['before a word', ''],
    ['in the status line', 'HTTP/1.1 20'],
    ['in the headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc'],
  ])('[W22] a receiver that closes %s has not answered', async (_where, bytes) => {
    const receiver = await rawReceiver((socket) => socket.end(bytes));
    expect(await makeOutbound().send(toLoopback(receiver.port))).toEqual(failure('reset'));
  });

  test('[W22] a reset is a reset, and a closed port is not reached', async () => {
    const receiver = await rawReceiver((socket) => socket.resetAndDestroy());
    expect(await makeOutbound().send(toLoopback(receiver.port))).toEqual(failure('reset'));
    const refusing = createServer();
    const { port } = await serve(refusing);
    await new Promise((resolve) => refusing.close(resolve));
    expect(await makeOutbound().send(toLoopback(port))).toEqual(failure('connect'));
  });

  test('[W21] two answers to one question do not reach the next question', async () => {
    const one = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1';
    const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';
    const receiver = await rawReceiver((socket) => socket.write(one + forged));
    const outbound = makeOutbound();
    for (let i = 0; i < 3; i++) {
      const outcome = await outbound.send(toLoopback(receiver.port));
      expect(outcome.ok && outcome.bodyStart.toString()).not.toBe('forged');
    }
  });
});

describe('the deadline', () => {
  test.each([
    ['says nothing', ''],
    ['stops in the headers', 'HTTP/1.1 200 OK\r\nX-'],
    ['stops in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['never ends its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'],
  ])('[W22] a receiver that %s is cut', async (_what, bytes) => {
    const clock = manualClock();
    const heard = signal();
    const cut = signal();
    const receiver = await rawReceiver((socket) => {
      socket.on('close', cut.fire);
      socket.write(bytes, () => heard.fire());
    });
    const outcome = makeOutbound({ clock }).send(toLoopback(receiver.port));
    await heard.seen;
    clock.passDeadline();
    expect(await outcome).toEqual(failure('timeout'));
    await cut.seen;
    expect(clock.waiting()).toBe(0);
  });

  test('[W22] a receiver that is slow by the byte is cut, however lively', async () => {
    const reply = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n';
    const lively = signal();
    const cut = signal();
    const receiver = await rawReceiver((socket) => {
      let sent = 0;
      const drip = () => {
        if (socket.destroyed) return;
        socket.write(reply[sent++] ?? 'x', () => setImmediate(drip));
        if (sent === reply.length + 20) lively.fire();
      };
      socket.on('close', cut.fire);
      drip();
    });
    const clock = manualClock();
    const outcome = makeOutbound({ clock }).send(toLoopback(receiver.port));
    await lively.seen;
    clock.passDeadline();
    expect(await outcome).toEqual(failure('timeout'));
    await cut.seen;
  });

  test('[W22] it also covers the name server', async () => {
    const clock = manualClock();
    const asked = signal();
    const lookup = () => {
      asked.fire();
      return new Promise<string[]>(() => {});
    };
    const outcome = makeOutbound({ clock, lookup }).send(post('https://receiver.example/'));
    await asked.seen;
    clock.passDeadline();
    expect(await outcome).toEqual(failure('timeout'));
  });

  test('[W22] an answer of DNS that comes too late is not dialled', async () => {
    const receiver = await httpReceiver((_req, res) => res.end(), PUBLIC);
    const clock = manualClock();
    const answer = signal<string[]>();
    const lookup = () => answer.seen;
    const outbound = makeOutbound({ clock, lookup, judge: publicAre(PUBLIC) });
    const outcome = outbound.send(post(`https://receiver.test:${receiver.port}/`));
    clock.passDeadline();
    expect(await outcome).toEqual(failure('timeout'));
    answer.fire([PUBLIC]);
    await new Promise(setImmediate); // lets a wrong dial reach the kernel
    await outbound.send(toLoopback(receiver.port, { url: `http://${PUBLIC}:${receiver.port}/` })); // and the receiver, in order of arrival
    expect(receiver.connections.length).toBe(1);
  });

  test('[W22] a request whose time passed in the queue is never written', async () => {
    const clock = manualClock();
    const first = signal();
    const heard: string[] = [];
    const receiver = await httpReceiver((req, res) => {
      heard.push(req.url ?? '');
      if (req.url === '/hook') first.fire();
      else res.end();
    });
    const outbound = makeOutbound({ clock, connectionsPerPool: 1 });
    const hung = outbound.send(toLoopback(receiver.port));
    await first.seen;
    const queued = outbound.send(
      toLoopback(receiver.port, { url: `http://127.0.0.1:${receiver.port}/queued` }),
    );
    await new Promise(setImmediate); // by now it stands in the queue of the pool
    clock.passDeadline();
    expect([await hung, await queued]).toEqual([failure('timeout'), failure('timeout')]);
    const next = toLoopback(receiver.port, { url: `http://127.0.0.1:${receiver.port}/next` });
    expect(await outbound.send(next)).toMatchObject({ ok: true, status: 200 });
    expect(heard).toEqual(['/hook', '/next']);
  });

  test('[W22] it is thirty seconds, and the real clock cuts by itself', async () => {
    const asked: number[] = [];
    const clock = {
      nowMs: () => 0,
      after(ms: number, fire: () => void) {
        asked.push(ms);
        fire();
        return () => {};
      },
    };
    expect(await makeOutbound({ clock }).send(toLoopback(1))).toEqual(failure('timeout'));
    expect(asked).toEqual([30_000]);
    const receiver = await rawReceiver(() => {});
    expect(await makeOutbound({ deadlineMs: 20 }).send(toLoopback(receiver.port))).toEqual(
      failure('timeout'),
    );
  });
});

describe('giving up', () => {
  test('[W22] the caller may give up before and during', async () => {
    const heard = signal();
    const receiver = await rawReceiver(() => heard.fire());
    const outbound = makeOutbound();
    const early = toLoopback(receiver.port, { signal: AbortSignal.abort() });
    expect(await outbound.send(early)).toEqual(failure('aborted'));
    expect(receiver.connections).toEqual([]);
    const giveUp = new AbortController();
    const outcome = outbound.send(toLoopback(receiver.port, { signal: giveUp.signal }));
    await heard.seen;
    giveUp.abort();
    expect(await outcome).toEqual(failure('aborted'));
  });

  test('[W22] a stop ends what is under way, and nothing starts afterwards', async () => {
    const heard = signal();
    const cut = signal();
    const receiver = await rawReceiver((socket) => {
      socket.on('close', cut.fire);
      heard.fire();
    });
    const outbound = makeOutbound();
    const outcome = outbound.send(toLoopback(receiver.port));
    await heard.seen;
    await outbound.stop();
    expect(await outcome).toEqual(failure('aborted'));
    await cut.seen;
    expect(await outbound.send(toLoopback(receiver.port))).toEqual(failure('aborted'));
    expect(receiver.connections.length).toBe(1);
  });
});
