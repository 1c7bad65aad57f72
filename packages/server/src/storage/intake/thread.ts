import { parentPort, workerData } from 'node:worker_threads';
import { type Kind, RULES, type UnitOf } from '../../core/intake.ts';
import type { Room } from '../../core/room.ts';
import type { Topic } from '../../core/store.ts';
import { randomIds, systemClock } from '../ids.ts';
import { noteSealedBy } from '../sealing/sealed-by.ts';
import { LendingTurns } from '../sqlite/turns.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';
import { unpack } from './pack.ts';
import {
  type Answered,
  type BatchPart,
  type FromThread,
  type Outcome,
  type ThreadData,
  type ToThread,
  toOutcome,
  toProblem,
} from './wire.ts';

/** The program of the second thread: it runs the same rules on the same store, for units that arrive in crowds. */
if (parentPort === null) throw new Error('this is a thread of the server, not a program');
const port = parentPort;
const tell = (message: FromThread) => port.postMessage(message);

const { at, masters, settings } = workerData as ThreadData;
const [master, ...olderMasters] = masters;
const vault = new MasterVault(master, olderMasters);
const sealing = { sealer: vault, sealHead: vault.sealHead };
const turns = new LendingTurns(() => tell({ kind: 'granted' }));
const { store, clock } = 'file' in at ? openFile(at) : await openServer(at.url);
await noteSealedBy(store, vault); // so that it seals with the server's key, also after that was replaced
const room: Room = { store, clock, ids: randomIds, vault, settings };

let news: [Topic, string[]][] = [];
let answered: Answered[] = [];
store.signals.onAny((heard) => {
  for (const [topic, about] of heard) news.push([topic, [...about]]);
});

port.on('message', (message: ToThread) => {
  if (message.kind === 'batch') void answer(message.number, message.parts);
  else if (message.kind === 'ask') turns.asked();
  else if (message.kind === 'back') turns.returned();
  else void store.stop().then(() => port.close());
});
tell({ kind: 'ready' });

function openFile(at: { file: string; opened: string | null }) {
  return { store: SqliteStore.open({ ...sealing, ...at, turns, isSecond: true }), clock: systemClock() };
}

/**
 * Imported only when it is needed. Only the server's own store listens for news from other replicas, and judges the
 * schema: a newer version may have brought that forward since, and this program goes on.
 */
async function openServer(url: string) {
  const { PostgresStore } = await import('../postgres.ts');
  const store = await PostgresStore.open({ ...sealing, url, isSecond: true });
  return { store, clock: store.clock };
}

/** The outcomes of units that were committed together are sent in one message. */
async function answer(number: number, parts: readonly BatchPart[]): Promise<void> {
  const outcomes = await Promise.all(
    parts.flatMap(({ of, packed }) => unpack(of, packed).map((unit) => outcomeOf(of, unit))),
  );
  if (answered.push({ number, outcomes }) === 1) process.nextTick(tellAll);
}

function tellAll(): void {
  const [batches, told] = [answered, news];
  answered = [];
  news = [];
  tell({ kind: 'done', batches, news: told });
}

function outcomeOf<K extends Kind>(kind: K, unit: UnitOf<K>): Promise<Outcome> {
  return RULES[kind](room, unit).then(toOutcome, toProblem);
}
