import { expect, test } from 'vitest';
import { AkepClient, WEBHOOK_SECRET } from '../support/akep.ts';
import { Seeded } from '../support/random.ts';
import { Server } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { EventLoad } from './events-load.ts';
import { compareReaders, offsets, repeatEvents, resumesOnce } from './events-promises.ts';
import { verifyLedger } from './promises.ts';

const ROUNDS = 5;
const AT_LEAST = 11;

test('[K8][K9][K11][K12][K21] kill -9 in rounds: every accepted event is there once, in one order, without a gap', async () => {
  const random = new Seeded(20261116);
  const env = { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET, LANTERNROOM_RATE_PRODUCER: '0' };
  let server = await Server.start({ env });
  const load = new EventLoad(random);
  for (let round = 1; round <= ROUNDS; round++) {
    const wanted = load.accepted.size + AT_LEAST;
    load.start(server.url);
    await pause(300 + random.below(900)); // the fault strikes anywhere
    await until('the load gets somewhere', () => load.accepted.size >= wanted);
    await server.kill();
    await load.stop();
    server = await server.restart();
    const client = new AkepClient(server.url);
    const kept = await client.all();
    for (const id of load.accepted) expect(kept).toContain(id);
    expect(new Set(kept).size).toBe(kept.length);
    await repeatEvents(client, load);
    await verifyLedger(server.folder);
  }
  const client = new AkepClient(server.url);
  await load.catchUp(server.url);
  const order = await client.all();
  expect([...order].sort()).toEqual([...load.sent.keys()].sort());
  compareReaders(load, order);
  expect(await offsets(await server.desk())).toEqual(order.map((_, n) => n + 1));
  await resumesOnce(client, load);
  // The rounds were worth their while.
  expect(load.accepted.size).toBeGreaterThanOrEqual(ROUNDS * AT_LEAST);
  expect(load.readers.every((reader) => reader.seen.length === order.length)).toBe(true);
  expect((await server.terminate()).code).toBe(0);
});
