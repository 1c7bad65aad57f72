import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { HeadName, Tx } from '../../core/store.ts';
import { freshDatabase } from '../../testing/postgres/postgres.ts';
import { aDelivery, aLine } from '../../testing/stores/things.ts';
import { PostgresStore } from '../postgres.ts';
import { MasterVault } from '../vault.ts';

/** Counts that are the same on every machine: whatever waits for the database once for each row grows here first. */
const SPACE = 'sp_home';

async function openStore(): Promise<PostgresStore> {
  const { url, drop } = await freshDatabase();
  const vault = new MasterVault(Buffer.from('a master key for tests'));
  const store = await PostgresStore.open({ url, sealer: vault, sealHead: vault.mac });
  onTestFinished(async () => {
    await store.stop();
    await drop();
  });
  return store;
}

/** What the database is asked for while one unit runs. */
async function statementsOf(
  store: PostgresStore,
  heads: readonly HeadName[],
  work: (tx: Tx) => Promise<void>,
): Promise<string[]> {
  const asked: string[] = [];
  const query = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
    const [what] = args as unknown as [string | { text: string }];
    asked.push(typeof what === 'string' ? what : what.text);
    return query.apply(this, args as never) as never;
  });
  await store.write(SPACE, heads, work);
  spy.mockRestore();
  return asked;
}

const matching = (statements: readonly string[], pattern: RegExp) =>
  statements.filter((sql) => pattern.test(sql)).length;

test('[D26] words travel in crowds to a database that is a journey away', async () => {
  const store = await openStore();
  const statements = await statementsOf(store, [], async (tx) => {
    for (let n = 0; n < 400; n++) await tx.search.add(`word ${n % 390}`, 1); // some of them twice
  });
  expect(matching(statements, /into "words"/)).toBe(13); // 400 = 12 × 32 + 16
  expect(await store.read(SPACE, (tx) => tx.search.count('word 3', 10))).toBe(1);
  // Again, as after a crash: what is there stays as it is.
  await statementsOf(store, [], (tx) => tx.search.add('word 3', 1));
  expect(await store.read(SPACE, (tx) => tx.search.count('word 3', 10))).toBe(1);
});

test.each([
  [1, 1],
  [3, 1], // too few to be copied
  [32, 1],
  [100, 4], // 100 = 3 × 32 + 4
])('[D26] %i deliveries with their lines are %i statements for each table', async (count, each) => {
  const store = await openStore();
  let seq = 0;
  const some = (many: number) => async (tx: Tx) => {
    await tx.heads.get('ledger');
    for (let n = 0; n < many; n++) {
      const row = { space: SPACE, seq: ++seq };
      await tx.deliveries.insert(aDelivery({ ...row, id: crypto.randomUUID() }), Buffer.from('x'));
      await tx.ledger.insert(aLine(row));
    }
    tx.heads.set('ledger', { n: seq, at: 1, text: '' });
  };
  await store.write(SPACE, ['ledger'], some(1)); // the first of all reads the key of the ids as well
  const statements = await statementsOf(store, ['ledger'], some(count));
  expect(matching(statements, /^begin/)).toBe(1);
  expect(matching(statements, /into "deliveries"|copy "deliveries"/)).toBe(each);
  expect(matching(statements, /into "ledger"|copy "ledger"/)).toBe(each);
  expect(matching(statements, /from heads[^"]*for update/)).toBe(1);
  expect(matching(statements, /into "heads"|update "heads"/)).toBe(1);
});

test('[D26] batches leave no prototypes behind, each of which would keep a whole batch in memory', async () => {
  const store = await openStore();
  const opened: Tx[] = [];
  const look = async (tx: Tx) => void opened.push(tx);
  for (let n = 0; n < 2; n++) {
    await store.write(SPACE, ['ledger'], look);
    await store.read(SPACE, look);
  }
  expect(new Set(opened).size).toBe(4);
  expect(new Set(opened.map((tx) => Object.getPrototypeOf(tx))).size).toBe(1);
});
