import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bePatient, refuseBroken } from './broken.ts';

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
