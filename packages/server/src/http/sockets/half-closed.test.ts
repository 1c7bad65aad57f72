import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../testing/waiting.ts';
import { draft, openWorld } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

/** Sends a request, closes our side behind it as `nc -N` does, and reads until the server closes the other. */
async function sayAndClose(world: World, head: readonly string[], body = ''): Promise<string> {
  const client = connect({ port: Number(new URL(world.url).port), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void client.destroy());
  const key = `Authorization: Bearer ${world.agent.key}`;
  client.end(`${[...head, 'Host: x', key].join('\r\n')}\r\n\r\n${body}`);
  let said = '';
  for await (const chunk of client) said += String(chunk);
  return said;
}

const post = (path: string, body: string) => [
  `POST ${path} HTTP/1.1`,
  'Content-Type: application/json',
  `Content-Length: ${Buffer.byteLength(body)}`,
];

test('[W30] whoever closes their side behind a delivery is told that it was received', async () => {
  const world = await openWorld();
  const body = JSON.stringify(draft(world));
  expect(await sayAndClose(world, post('/wake/v1/deliver', body), body)).toMatch(
    /^HTTP\/1\.1 201 [\s\S]*"status":"received"/,
  );
  const blank = JSON.stringify(draft(world, { headline: ' ' }));
  expect(await sayAndClose(world, post('/wake/v1/deliver', blank), blank)).toMatch(
    /^HTTP\/1\.1 422 [\s\S]*"field":"headline"/,
  );
});

test('[W30] so is an HTTP/1.0 client that reads, and requests that were sent ahead are all answered', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  expect(await sayAndClose(world, [`GET /wake/v1/response/${id} HTTP/1.0`])).toMatch(/"status":"pending"/);
  const ahead = `GET /wake/v1/response/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.agent.key}\r\n\r\n`;
  const said = await sayAndClose(world, [`${ahead}${ahead}GET /wake/v1/responses HTTP/1.1`]);
  expect(said.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
});

test('[W30] a wait is answered at once with what there is, because its client may as well have left', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  expect(await sayAndClose(world, [`GET /wake/v1/response/${id}?wait=60 HTTP/1.1`])).toMatch(
    /^HTTP\/1\.1 200 [\s\S]*"status":"pending"/,
  );
  expect(await sayAndClose(world, ['GET /akep/events/wait?timeout_seconds=60 HTTP/1.1'])).toMatch(
    /^HTTP\/1\.1 204 /,
  );
});

test('[W30] a stream ends, as if its reader had hung up', async () => {
  const world = await openWorld();
  const client = connect({ port: Number(new URL(world.url).port), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void client.destroy());
  let said = '';
  client
    .on('error', () => {})
    .on('data', (chunk) => {
      said += String(chunk);
    });
  client.write(
    `GET /akep/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.agent.key}\r\n\r\n`,
  );
  await until(async () => said.includes('retry:'));
  client.end();
  await until(async () => client.readableEnded || client.destroyed);
  expect(said).toMatch(/^HTTP\/1\.1 200 /);
});
