import { expect, onTestFinished, test } from 'vitest';
import { startPooler } from '../../testing/postgres/pooler.ts';
import { freshDatabase, onDatabase } from '../../testing/postgres/postgres.ts';
import { aLine } from '../../testing/stores/things.ts';
import { until } from '../../testing/waiting.ts';
import { PostgresStore } from '../postgres.ts';
import { Signals } from '../signals.ts';
import { MasterVault } from '../vault.ts';
import { Lane, laneSession, Whereabouts } from './lane.ts';
import { PostgresWakeups } from './wakeups.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));

async function pooled(): Promise<{
  direct: string;
  behind: string;
  warnings: string[];
  left(): number;
  open(url: string): Promise<PostgresStore>;
}> {
  const { url: direct, drop } = await freshDatabase();
  onTestFinished(drop);
  const pooler = await startPooler(direct);
  onTestFinished(() => pooler.stop());
  const warnings: string[] = [];
  const open = async (url: string) => {
    const warn = (message: string) => void warnings.push(message);
    const store = await PostgresStore.open({ url, sealer: vault, sealHead: vault.mac, warn });
    onTestFinished(() => store.stop());
    return store;
  };
  return { direct, behind: pooler.url, warnings, left: pooler.left, open };
}

const writeLine = (store: PostgresStore, topic: string) =>
  store.write('sp_1', ['ledger'], async (tx) => {
    const seq = ((await tx.heads.get('ledger'))?.n ?? 0) + 1;
    await tx.ledger.insert({ ...aLine(), seq });
    tx.heads.set('ledger', { n: seq, at: seq, text: '' });
    tx.announce(`desk:sp_1`, topic);
    return seq;
  });

test('[R9] behind a pooler that gives another server to each transaction, everything works', async () => {
  const { behind, open } = await pooled();
  const [one, other] = [await open(behind), await open(behind)];
  for (let round = 0; round < 5; round++) {
    const units = Array.from({ length: 40 }, (_, i) => writeLine(i % 2 ? one : other, 'x'));
    await Promise.all([
      ...units,
      ...Array.from({ length: 10 }, () => one.read('sp_1', (tx) => tx.ledger.page(0, 5))),
    ]);
  }
  const lines = await other.read('sp_1', (tx) => tx.ledger.page(0, 1000));
  expect(lines.map((line) => line.seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
});

test('[R9][R3] where LISTEN brings nothing, news is found by looking, and the log says so once', async () => {
  const { behind, warnings, left, open } = await pooled();
  const [one, other] = [await open(behind), await open(behind)];
  const heard: string[] = [];
  const ofOthers: string[] = [];
  for (const topic of ['desk:sp_1', 'frames:sp_1:agent'] as const)
    other.signals.on(topic, (about) => heard.push(`${topic} ${[...about]}`));
  for (const topic of ['desk:sp_2', 'frames:sp_2:agent'] as const)
    other.signals.on(topic, () => ofOthers.push(topic));
  await writeLine(one, 'thing');
  await until(async () => heard.length > 1);
  expect(heard.sort()).toEqual(['desk:sp_1 ', 'frames:sp_1:agent ']);
  expect(ofOthers).toEqual([]);
  await until(async () => warnings.length === 2);
  // It is tried again and again, fails again, and lets go of its connection.
  const before = left();
  one.wakeups.back();
  other.wakeups.back();
  await until(async () => left() >= before + 2);
  expect(warnings.map((warning) => warning.startsWith('LISTEN brings nothing'))).toEqual([true, true]);
  expect(other.wakeups.hears).toBe(false);
});

test('[R9] a notice that could not be sent is no sign of a pooler', async () => {
  const { direct, open } = await pooled();
  await open(direct);
  const [here, nowhere] = [direct, 'postgres://nobody@127.0.0.1:1/none'].map((url) => {
    const where = new Whereabouts(url, () => {});
    onTestFinished(() => where.stop());
    return where;
  }) as [Whereabouts, Whereabouts];
  const [listening, asking] = [new Lane(here), new Lane(here)];
  onTestFinished(() => listening.close());
  onTestFinished(() => asking.close());
  const warnings: string[] = [];
  const wakeups = new PostgresWakeups({
    signals: new Signals(),
    listening,
    telling: new Lane(nowhere),
    session: laneSession(asking),
    warn: (message) => void warnings.push(message),
  });
  const link = await listening.get();
  const letGo = new Promise<void>((resolve) => link.onClose(resolve));
  await wakeups.start();
  onTestFinished(() => wakeups.stop());
  await letGo;
  expect(warnings).toEqual([]);
});

test('[R3] without a pooler the self-test is heard, and news comes with what it is about', async () => {
  const { direct, warnings, open } = await pooled();
  const [one, other] = [await open(direct), await open(direct)];
  await until(async () => one.wakeups.hears && other.wakeups.hears);
  const heard: string[] = [];
  other.signals.on('desk:sp_1', (about) => heard.push(...about));
  await writeLine(one, 'thing');
  await until(async () => heard.includes('thing'));
  // More than one notice can hold, in one go.
  const many = Array.from({ length: 600 }, (_, i) => `thing-${'x'.repeat(30)}-${i}`);
  await Promise.all(many.map((about) => writeLine(one, about)));
  await until(async () => many.every((about) => heard.includes(about)));
  expect(warnings).toEqual([]);
});

test('[R3] a notice that was lost is noticed at the end of the ledger', async () => {
  const { direct, open } = await pooled();
  const [one, other] = [await open(direct), await open(direct)];
  await until(async () => other.wakeups.hears);
  const heard: string[] = [];
  other.signals.on('desk:sp_1', (about) => heard.push(...about));
  await onDatabase(
    direct,
    "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()",
  );
  // Whoever loses a connection looks whether the database is still there; that takes a moment.
  await until(() =>
    writeLine(one, 'while nobody listened')
      .then(() => true)
      .catch(() => false),
  );
  await until(async () => heard.length > 0);
});

test('[R3][D91] what a command commits is told by name, though it ends at once', async () => {
  const { direct, open } = await pooled();
  const server = await open(direct);
  await until(async () => server.wakeups.hears);
  const heard: string[] = [];
  server.signals.on('desk:sp_1', (about) => heard.push(...about));
  const names = Array.from({ length: 20 }, (_, i) => `thing-${i}`);
  for (const name of names) {
    const command = await open(direct);
    await writeLine(command, name);
    await command.stop();
  }
  await until(async () => names.every((name) => heard.includes(name)));
});
