import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { signal } from '../../testing/network/receivers.ts';
import { Streams } from './sse.ts';

test('[K15][D17] a reader who has left while it was looked up is not kept', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  const streams = new Streams();
  const asked = signal();
  const told = new Promise<string>((resolve) => {
    app.get('/', async (_, reply) => {
      asked.fire();
      await once(reply.raw, 'close');
      const stream = streams.open(reply, () => resolve(`closed: ${stream.closed}`));
      return reply;
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked.seen;
  client.destroy();
  expect(await told).toBe('closed: true');
  expect(streams.size).toBe(0);
});
