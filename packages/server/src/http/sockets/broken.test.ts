import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { PLAIN_DOOR } from '../app.ts';
import { errorHandler } from '../errors.ts';
import { addJsonParser } from '../reading/body.ts';
import { bePatient, readableUrl, refuseBroken } from './broken.ts';

/** Sends half of a body, lets the time limit pass, and then sends the rest. */
async function slowly(isPatient: boolean): Promise<number> {
  let timedOut = () => {};
  const passed = new Promise<void>((resolve) => {
    timedOut = resolve;
  });
  const server = createServer({ requestTimeout: 30, headersTimeout: 20, connectionsCheckingInterval: 10 });
  server.on('clientError', (error, socket) => {
    refuseBroken(() => '')(error, socket as never);
    timedOut();
  });
  server.on('request', (incoming, reply) => {
    if (isPatient) bePatient(incoming.socket);
    incoming.resume().on('end', () => reply.end('taken'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ port, method: 'POST', headers: { 'content-length': 2 } });
  const status = new Promise<number>((resolve) => {
    outgoing.on('response', (reply) => resolve(reply.statusCode ?? 0)).on('error', () => resolve(0));
  });
  outgoing.write('a');
  await passed;
  outgoing.end('b');
  return status;
}

test('[A20] an upload that takes longer than a request may is let go on', async () => {
  expect(await slowly(true)).toBe(200);
});

test('[W1] any other request that does not arrive in time is told so', async () => {
  expect(await slowly(false)).toBe(408);
});

test('[D33] a caller who leaves in the middle of a body is not logged as a fault of ours', async () => {
  const logged: string[] = [];
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => logged.push(line) } } });
  addJsonParser(app);
  const refuse = errorHandler(PLAIN_DOOR, () => '');
  const refused = new Promise<number>((resolve) => {
    app.setErrorHandler((error: Error, asked, reply) => {
      const answer = refuse(error, asked, reply);
      resolve(reply.statusCode);
      return answer;
    });
  });
  const leaving = new Promise<void>((resolve) => {
    app.addHook('preParsing', (_asked, _reply, _body, done) => {
      done();
      resolve();
    });
  });
  app.post('/', async () => 'taken');
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(url, { method: 'POST', headers }).on('error', () => {});
  outgoing.write('{"half":');
  await leaving;
  outgoing.destroy();
  expect(await refused).toBe(400);
  expect(logged).toEqual([]);
});

test('[W29] an address is read to its end, however many slashes it has', () => {
  const slashes = '/'.repeat(1024 * 1024);
  expect(readableUrl(`/a${slashes}b`)).toBe(`/a${slashes}b`);
  expect(readableUrl(`/a${slashes}?q=/`)).toBe('/a?q=/');
  expect(readableUrl(`/@a/b${slashes}c`)).toBe('/@a/b/c');
  expect(['/', '//', '/a/', '/wake/v1/', '/@a/b/', '/a#/'].map(readableUrl)).toEqual([
    '/',
    '//',
    '/a',
    '/wake/v1/',
    '/@a/b/',
    '/a#/',
  ]);
});
