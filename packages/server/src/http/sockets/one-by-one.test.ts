import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { oneByOne } from './one-by-one.ts';

const ASK = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function open() {
  const seen: ServerResponse[] = [];
  let arrived = () => {};
  const server = createServer(
    oneByOne((_, response) => {
      seen.push(response);
      arrived();
    }),
  );
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const next = () =>
    new Promise<void>((resolve) => {
      arrived = resolve;
    });
  return { seen, socket, next };
}

it('[W29] requests that were sent ahead of an answer are served one after the other, in order', async () => {
  const { seen, socket, next } = await open();
  const first = next();
  socket.write(ASK.repeat(50));
  await first;
  for (let n = 1; n < 50; n++) {
    const following = next();
    expect(seen.length).toBe(n);
    seen.at(-1)?.end(String(n));
    await following;
  }
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  seen.at(-1)?.setHeader('connection', 'close').end('50');
  await once(socket, 'close');
  const bodies = [...text.matchAll(/\r\n\r\n(?:[0-9a-f]+\r\n)?(\d+)/g)].map(([, body]) => Number(body));
  expect(bodies).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
});

it('[W29] whoever sends thousands ahead and waits for none of them is cut off', async () => {
  const { seen, socket, next } = await open();
  const first = next();
  const cutOff = new Promise((resolve) => socket.once('close', resolve));
  socket.resume().write(ASK.repeat(3_000));
  await Promise.all([first, cutOff]);
  expect(seen.length).toBe(1);
});
