import { parentPort, workerData } from 'node:worker_threads';
import { type Prepared, takeIn } from '../../core/deliveries/accept.ts';
import type { Room } from '../../core/room.ts';
import type { Topic } from '../../core/store.ts';
import { randomIds, systemClock } from '../ids.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';
import { unpack } from './intake-pack.ts';
import {
  type FromThread,
  type Outcome,
  type ThreadData,
  type ToThread,
  toOutcome,
  toProblem,
} from './intake-wire.ts';
import { LendingTurns } from './turns.ts';

/** The whole program of the second thread: the same rules on the same store, for deliveries that come in crowds. */
if (parentPort === null) throw new Error('this is a thread of the server, not a program');
const port = parentPort;
const tell = (message: FromThread) => port.postMessage(message);

const { file, master, settings } = workerData as ThreadData;
const vault = new MasterVault(master);
const turns = new LendingTurns(() => tell({ kind: 'granted' }));
const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.sealHead, turns });
const room: Room = { store, clock: systemClock(), ids: randomIds, vault, settings };

let news: [Topic, string[]][] = [];
store.signals.onAny((heard) => {
  for (const [topic, about] of heard) news.push([topic, [...about]]);
});

port.on('message', (message: ToThread) => {
  if (message.kind === 'batch') void answer(message.number, unpack(message.packed));
  else if (message.kind === 'ask') turns.asked();
  else if (message.kind === 'back') turns.returned();
  else void store.stop().then(() => port.close());
});
tell({ kind: 'ready' });

async function answer(number: number, units: readonly Prepared[]): Promise<void> {
  const outcomes = await Promise.all(units.map(outcomeOf));
  const told = news;
  news = [];
  tell({ kind: 'done', number, outcomes, news: told });
}

function outcomeOf(unit: Prepared): Promise<Outcome> {
  return takeIn(room, unit).then(toOutcome, toProblem);
}
