import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connect, createCaller, type LinkTrouble } from '../a2a/index.ts';
import { memoryLog } from '../log/log.ts';
import { manualClock } from '../testing/clock.ts';
import { DRAFT, TEST_KEY } from '../testing/room.ts';
import { createWake } from '../wake/client.ts';
import { certificateTrouble } from './certificate.ts';

/** A server whose certificate is of an authority that nobody knows. */
async function distrusted(): Promise<string> {
  const folder = new URL('../../../server/src/testing/network/tls/', import.meta.url);
  const [cert, key] = ['receiver.pem', 'receiver.key'].map((name) => readFileSync(new URL(name, folder)));
  const server = createServer({ cert, key });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ADVICE =
  /shows a certificate that this machine does not trust \(UNABLE_TO_\w+\): .*NODE_EXTRA_CA_CERTS/;

it('[W23] a certificate that is not trusted is called so, and not silence', async () => {
  const url = await distrusted();
  const wake = createWake({ url, apiKey: TEST_KEY, log: memoryLog(), clock: manualClock() });
  await expect(wake.deliver(DRAFT)).rejects.toThrow(ADVICE);
  const caller = createCaller({ agent: `${url}/@home/helper`, token: TEST_KEY, clock: manualClock() });
  await expect(caller.send('Hello')).rejects.toThrow(ADVICE);
});

it('[W23] nor is it for a laptop that connects', async () => {
  const url = await distrusted();
  const told = await new Promise<LinkTrouble>((resolve) => {
    const connection = connect({ url, apiKey: TEST_KEY, onTask: () => 'Done.', onTrouble: resolve });
    onTestFinished(() => connection.stop());
  });
  expect(told.error).toMatchObject({ message: expect.stringMatching(ADVICE) });
});

it('[W23] a server without TLS is called so under an https address, and not silence', async () => {
  const server = createPlainServer((_, reply) => void reply.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const says = /answers, but not in TLS \(\w+\): .*http:\/\//;
  const wake = createWake({ url, apiKey: TEST_KEY, log: memoryLog(), clock: manualClock() });
  await expect(wake.deliver(DRAFT)).rejects.toThrow(says);
  const caller = createCaller({ agent: `${url}/@home/helper`, token: TEST_KEY, clock: manualClock() });
  await expect(caller.send('Hello')).rejects.toThrow(says);
  const told = await new Promise<LinkTrouble>((resolve) => {
    const connection = connect({ url, apiKey: TEST_KEY, onTask: () => 'Done.', onTrouble: resolve });
    onTestFinished(() => connection.stop());
  });
  expect(told.error).toMatchObject({ message: expect.stringMatching(says) });
});

it('[W23] silence stays silence', () => {
  const refused = new TypeError('fetch failed', {
    cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
  });
  expect(certificateTrouble('https://desk.example.com', refused)).toBeNull();
  expect(certificateTrouble('https://desk.example.com', null)).toBeNull();
});
