import { expect, test } from 'vitest';
import { Seeded } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';
import { Server } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { Load, OPEN_AT_MOST } from './load.ts';
import { Notebook } from './notebook.ts';
import {
  compareDecisions,
  compareSurfaces,
  compareSweeps,
  countLines,
  repeatDeliveries,
  settle,
  verifyLedger,
} from './promises.ts';

const ROUNDS = 6;

test('[D26][D13][W12][W19][W20][D21][D28] kill -9 in rounds under load loses nothing and doubles nothing', async () => {
  const random = new Seeded(20261115);
  // Every twentieth fails the first time, so that retries are on their way when the server dies.
  const met = new Set<unknown>();
  const receiver = await startReceiver((reply, { headers }) => {
    const isNew = met.size < met.add(headers['x-wake-delivery-id']).size;
    reply.writeHead(isNew && met.size % 20 === 0 ? 503 : 204).end();
  });
  const book = new Notebook(receiver);
  const undoWindow = (round: number) => ({ LANTERNROOM_UNDO_SECONDS: String(round % 2) });
  let server = await Server.start({
    env: { ...undoWindow(1), LANTERNROOM_INIT_CALLBACKS: receiver.origin },
  });
  let desk = await server.desk();
  // On a machine that gets little done, the rounds go on until everything has happened at least once.
  const isWorthIt = () =>
    book.entries.some((e) => e.undone === 'acknowledged') &&
    book.entries.some((e) => e.withdrawn === 'acknowledged') &&
    receiver.received.length > ROUNDS;
  for (let round = 1; round <= ROUNDS || !isWorthIt(); round++) {
    const taken = () => book.entries.filter(({ id }) => id !== null).length;
    const wanted = taken() + random.below(20);
    const load = new Load({ wake: server.wake(), desk, book, random });
    await pause(300 + random.below(900)); // the fault strikes anywhere
    await until('the load gets somewhere', () => taken() >= wanted || book.open().length >= OPEN_AT_MOST);
    await server.kill();
    await load.end();
    server = await server.restart(undoWindow(round + 1));
    desk = desk.at(server.url);
    const doors = { wake: server.wake(), desk, book };
    await repeatDeliveries(doors);
    await compareDecisions(doors);
    await verifyLedger(server.folder);
  }
  const doors = { wake: server.wake(), desk, book };
  const details = await settle(doors);
  await compareSweeps(doors);
  await compareSurfaces(doors, details);
  await countLines(doors, details);
  await verifyLedger(server.folder);
  // The rounds were worth their while.
  const states = [...details.values()].map((d) => d.state);
  expect(new Set(states)).toEqual(new Set(['pending', 'decided', 'withdrawn']));
  expect(isWorthIt()).toBe(true);
  expect((await server.terminate()).code).toBe(0);
});
