import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { PATIENCE_MS } from '../testing/hub.ts';
import { openSocket } from './socket.ts';

const TEXT = 0x81;

/** An open socket, the stream at its other end, and its beats in the test's hand. */
async function open() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, autoPong: false });
  const upgraded = once(http, 'upgrade') as Promise<[never, NetSocket, never]>;
  http.on('upgrade', (request, socket, head) => sockets.handleUpgrade(request, socket, head, () => {}));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  const heard: string[] = [];
  const closed = vi.fn();
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const dialled = dial();
  const socket = await openSocket(
    { url, protocol: 'lantern.v1', headers: {} },
    { text: (text) => void heard.push(text), closed },
  );
  onTestFinished(() => socket.cut());
  const [, wire] = await upgraded;
  const own = await dialled;
  const beat = () => vi.advanceTimersByTime(15_000);
  return { socket, wire, own, beat, heard, closed };
}

/** The next stream that this process opens. */
function dial(): Promise<NetSocket> {
  const streams = channel('net.client.socket');
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      streams.unsubscribe(take);
      resolve((message as { socket: NetSocket }).socket);
    };
    streams.subscribe(take);
  });
}

const soon = (check: () => void) => vi.waitFor(check, PATIENCE_MS);

it('[A16] a hub that no longer says anything is given up at the second beat', async () => {
  const { wire, beat, closed } = await open();
  const pinged = wire.bytesRead;
  beat();
  await soon(() => expect(wire.bytesRead).toBeGreaterThan(pinged));
  expect(closed).not.toHaveBeenCalled();
  beat();
  await soon(() => expect(closed).toHaveBeenCalledOnce());
});

it('[A16] a large frame may come as slowly as the line is', async () => {
  const { wire, own, beat, heard, closed } = await open();
  const frame = Buffer.concat([
    Buffer.from([TEXT, 127, 0, 0, 0, 0, 0, 3, 0, 0]),
    Buffer.alloc(3 * 65_536, 'x'),
  ]);
  for (let at = 0; at < frame.length; at += 65_536) {
    const before = own.bytesRead;
    wire.write(frame.subarray(at, at + 65_536));
    await soon(() => expect(own.bytesRead).toBeGreaterThan(before));
    beat();
  }
  await soon(() => expect(heard).toHaveLength(1));
  expect(closed).not.toHaveBeenCalled();
});

it('[A16] what was sent has its time on a slow line before anything must be heard', async () => {
  const { socket, wire, own, beat, closed } = await open();
  beat();
  wire.pause();
  socket.send('x'.repeat(2_500_000));
  beat();
  beat();
  expect(own.destroyed).toBe(false);
  beat();
  await soon(() => expect(closed).toHaveBeenCalledOnce());
});
