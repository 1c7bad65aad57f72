import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refused, run } from '../doors/commands.ts';
import { Seeded } from '../support/random.ts';
import { Server } from '../support/server.ts';
import { each, pause, until } from '../support/until.ts';
import { verifyLedger } from './promises.ts';

type Status = { key: string; sealed_by: string[]; finished: boolean };

const ROUNDS = 4;
const DELIVERIES = 300;
const details = (n: number) => ({ n, text: `delivery ${n} ${'ü'.repeat(n % 700)}` });

/** The key that the records of a server were sealed with comes first in what is left of its secret file. */
const keysIn = (folder: string) => readFileSync(join(folder, 'secret.key'), 'utf8').trim().split('\n');

async function rotateAgain(folder: string): Promise<void> {
  if (!(await run<Status>(folder, 'key', 'status')).finished) return;
  await run(folder, 'key', 'drop');
  await run(folder, 'key', 'rotate');
}

test('[D85] kill -9 while everything is resealed: the next start continues, and nothing is lost', async () => {
  const random = new Seeded(20261115);
  let server = await Server.start({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const { folder } = server;
  const ids: string[] = [];
  await each(
    Array.from({ length: DELIVERIES }, (_, n) => n),
    async (n) => {
      ids[n] = await server.wake().delivered({ details: details(n) });
    },
  );
  let desk = await server.desk();
  await each(ids.slice(0, 40), async (id) => {
    await desk.decide(id, { status: 'approved', feedback: `feedback on ${id}` });
  });

  // Asked for beside the running server, which goes on with the key it knows, as do the commands.
  const before = await run<Status>(folder, 'key', 'status');
  expect(before.finished).toBe(true);
  await run(folder, 'key', 'rotate');
  await refused(1, /already being replaced/, ['key', 'rotate', '--data', folder]);
  await refused(1, /still needed/, ['key', 'drop', '--data', folder]);
  await run(folder, 'agent', 'add', 'made-meanwhile');
  await server.wake().delivered();
  const asked = await run<Status>(folder, 'key', 'status');
  expect(asked).toMatchObject({ sealed_by: before.sealed_by, finished: false });
  expect(asked.key).not.toBe(before.key);

  let interrupted = 0;
  for (let round = 0; round < ROUNDS || interrupted === 0; round++) {
    await server.kill();
    // On some machines the server is done before we strike: start again.
    if (round >= ROUNDS) await rotateAgain(folder);
    server = await server.restart();
    await pause(round % ROUNDS === 0 ? 0 : random.below(120)); // the fault strikes anywhere
    if (!server.child.stdout.includes('everything is sealed')) interrupted++;
  }
  await server.wake().delivered();
  await until('everything is sealed anew', async () => (await run<Status>(folder, 'key', 'status')).finished);
  await run(folder, 'key', 'drop');
  expect(keysIn(folder)).toHaveLength(1);
  await refused(1, /only one master key/, ['key', 'drop', '--data', folder]);
  expect((await server.terminate()).code).toBe(0);

  server = await server.restart();
  desk = desk.at(server.url);
  await each(ids, async (id) => {
    const n = ids.indexOf(id);
    const { status, json } = await desk.request<{ details: unknown }>('GET', `/desk/deliveries/${id}`);
    expect([status, json.details]).toEqual([200, details(n)]);
    if (n < 40) expect((await server.wake().response(id)).json.feedback).toBe(`feedback on ${id}`);
  });
  // A crowd, which a second thread takes in: it must seal as the first does.
  const crowd = Array.from({ length: DELIVERIES }, (_, n) => n);
  for (let times = 0; times < 3; times++)
    await each(crowd, async () => void (await server.wake().delivered()), 64);
  await verifyLedger(folder);
  expect((await server.terminate()).code).toBe(0);
  server = await server.restart();
  await server.wake().delivered();
  expect((await server.terminate()).code).toBe(0);
});
