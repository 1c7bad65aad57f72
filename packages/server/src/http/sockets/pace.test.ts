import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../../testing/waiting.ts';
import { beat, hearInTurn } from './pace.ts';

/** A frame of a client, masked with zeros. */
function frame(kind: number, text: string): Buffer {
  return Buffer.concat([headOf(kind, text.length), Buffer.from(text)]);
}

function headOf(kind: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | kind, 0x80 | length, 0, 0, 0, 0]);
  const head = Buffer.alloc(14);
  head[0] = 0x80 | kind;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

const TEXT = 1;
const PING = 9;
const PONG = 10;
const many = (kind: number, text: string, count: number) =>
  Buffer.concat(Array.from({ length: count }, () => frame(kind, text)));

async function open(take: (data: Buffer) => Promise<void>) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  client.on('error', () => {});
  client.write(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [socket, { socket: wire }] = await accepted;
  hearInTurn(socket, wire, { hear: take });
  return { client, socket, wire };
}

it('[W29] a socket is not read from while many of its frames are being kept, and none is lost', async () => {
  const heard: (() => void)[] = [];
  let all = () => {};
  let total = 0;
  const { client, socket } = await open(() => {
    if (++total === 50_000) all();
    return new Promise<void>((resolve) => heard.push(resolve));
  });
  const paused = new Promise<void>((resolve) => {
    const pause = socket.pause.bind(socket);
    socket.pause = () => {
      pause();
      resolve();
    };
  });
  const complete = new Promise<void>((resolve) => {
    all = resolve;
  });
  client.write(many(TEXT, 'x', 50_000));
  await paused;
  // As long as nothing is kept, only what was read in the same go comes along.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(socket.isPaused).toBe(true);
  expect(total).toBeLessThan(25_000);
  const keeping = setInterval(() => {
    for (const kept of heard.splice(0)) kept();
  }, 1);
  onTestFinished(() => clearInterval(keeping));
  await complete;
});

it('[W29] nor while a few large ones are: what waits of one socket is some megabytes', async () => {
  const heard: (() => void)[] = [];
  let total = 0;
  const { client, socket } = await open(() => {
    total++;
    return new Promise<void>((resolve) => heard.push(resolve));
  });
  client.write(many(TEXT, 'x'.repeat(1_000_000), 40));
  await until(async () => socket.isPaused);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  // One more may have begun to arrive with the last that was read.
  expect(total).toBeLessThan(8);
  const keeping = setInterval(() => {
    for (const kept of heard.splice(0)) kept();
  }, 1);
  onTestFinished(() => clearInterval(keeping));
  await until(async () => total === 40);
});

it('[W29] pings are answered, but not those of one who never listens', async () => {
  const { client, socket } = await open(async () => {});
  expect(beat(socket)).toBe(true);
  client.write(frame(PING, 'here?'));
  let text = '';
  client.setEncoding('latin1');
  while (!text.includes('\x8a\x05here?')) text += (await once(client, 'data'))[0];
  expect([beat(socket), beat(socket)]).toEqual([true, false]);
  client.pause();
  await floodUntilCutOff(client, socket, many(PING, 'x'.repeat(125), 5_000));
});

it('[W29] nor many tiny ones: what waits for each takes far more memory than it has bytes', async () => {
  const { client, socket } = await open(async () => {});
  client.pause();
  const waited = new Promise<number>((resolve) => {
    const terminate = socket.terminate.bind(socket);
    socket.terminate = () => {
      resolve(socket.bufferedAmount);
      terminate();
    };
  });
  // Until the systems on both sides hold no more, so that what follows waits with us.
  await until(async () => {
    if (socket.bufferedAmount > 0) return true;
    socket.send('x'.repeat(64_000));
    return false;
  });
  await floodUntilCutOff(client, socket, many(PING, 'x', 5_000));
  expect(await waited).toBeLessThan(200_000);
});

async function floodUntilCutOff(client: Socket, socket: WebSocket, frames: Buffer): Promise<void> {
  const cutOff = once(socket, 'close');
  const ask = () => {
    if (socket.readyState === socket.OPEN) client.write(frames, () => setImmediate(ask));
  };
  ask();
  await cutOff;
}

it('[W29] who says that they are there, and takes nothing for a minute of beats, is let go', async () => {
  const { client, socket } = await open(async () => {});
  client.pause();
  const beats: boolean[] = [];
  const beatOnce = async () => {
    client.write(frame(PONG, ''));
    await once(socket, 'pong');
    beats.push(beat(socket));
  };
  await beatOnce();
  socket.send('x'.repeat(8_000_000));
  while (beats.at(-1)) await beatOnce();
  // The one before, four, and those that so many bytes need on a slow line.
  const needed = Math.ceil(socket.bufferedAmount / (15 * 64 * 1024));
  expect(beats).toHaveLength(1 + 1 + 4 + needed);
});

it('[W29] who reads a large frame on a slow line has time to answer what is asked behind it', async () => {
  const { client, socket } = await open(async () => {});
  client.pause();
  expect(beat(socket)).toBe(true);
  socket.send('x'.repeat(4_000_000));
  const silent = Array.from({ length: 4 }, () => beat(socket));
  expect(silent).toEqual([true, true, true, true]);
  client.resume();
  await until(async () => socket.bufferedAmount === 0);
  client.write(frame(PONG, ''));
  await once(socket, 'pong');
  expect(beat(socket)).toBe(true);
  expect(beat(socket)).toBe(false);
});

it('[W29] who sends a large frame on a slow line is there, though none of it is heard yet', async () => {
  const { client, socket, wire } = await open(async () => {});
  expect(beat(socket)).toBe(true);
  const large = frame(TEXT, 'x'.repeat(1_000_000));
  for (let at = 0; at < large.length - 1; at += 200_000) {
    const { bytesRead } = wire;
    client.write(large.subarray(at, Math.min(at + 200_000, large.length - 1)));
    await until(async () => wire.bytesRead > bytesRead);
    expect(beat(socket)).toBe(true);
  }
});

it('[W29] who takes what waits for them, however slowly, stays', async () => {
  const { client, socket } = await open(async () => {});
  client.pause();
  socket.send('x'.repeat(40_000_000));
  for (let n = 0; n < 8; n++) {
    const before = socket.bufferedAmount;
    client.resume();
    await until(async () => socket.bufferedAmount < before || before === 0);
    client.pause();
    client.write(frame(PONG, ''));
    await once(socket, 'pong');
    expect(beat(socket)).toBe(true);
  }
});
