import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
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
    upgrades.attach(server);
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
