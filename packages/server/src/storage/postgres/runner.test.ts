import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase } from '../../testing/postgres/postgres.ts';
import { aLine } from '../../testing/stores/things.ts';
import { PostgresStore } from '../postgres.ts';
import { MasterVault } from '../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));
const SPACE = 'sp_1';
const EVERY_SEVENTH = 7;

async function openStores(count: number): Promise<PostgresStore[]> {
  const { url, drop } = await freshDatabase();
  const options = { url, sealer: vault, sealHead: vault.mac };
  const stores = await Promise.all(Array.from({ length: count }, () => PostgresStore.open(options)));
  onTestFinished(async () => {
    for (const store of stores) await store.stop();
    await drop();
  });
  return stores;
}

/** A line at the next place; a bad one also writes a row that is there already, which only the commit finds out. */
const append = (store: PostgresStore, isBad: boolean) =>
  store.write(SPACE, ['ledger'], async (tx) => {
    const seq = ((await tx.heads.get('ledger'))?.n ?? 0) + 1;
    await tx.ledger.insert({ ...aLine(), space: SPACE, seq });
    if (isBad) await tx.ledger.insert({ ...aLine(), space: SPACE, seq: 1 });
    tx.heads.set('ledger', { n: seq, at: seq, text: '' });
    return seq;
  });

test('[R2][D26] a batch that fails at its commit takes nothing of the next one with it, and leaves nothing', async () => {
  const [one, two] = (await openStores(2)) as [PostgresStore, PostgresStore];
  await append(one, false);
  const outcomes: Promise<PromiseSettledResult<number>>[] = [];
  for (let n = 1; n <= 210; n++) {
    const writing = append(n % 3 === 0 ? two : one, n % EVERY_SEVENTH === 0);
    outcomes.push(Promise.allSettled([writing]).then(([outcome]) => outcome));
    // Some come together and some while others are on their way to the disk.
    if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const settled = await Promise.all(outcomes);
  settled.forEach((outcome, i) => {
    const isBad = (i + 1) % EVERY_SEVENTH === 0;
    expect(outcome).toMatchObject(isBad ? { reason: { code: '23505' } } : { status: 'fulfilled' });
  });
  const places = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const lines = await one.read(SPACE, (tx) => tx.ledger.page(1, 1000));
  expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 180 }, (_, i) => i + 2));
  expect(places.sort((a, b) => a - b)).toEqual(lines.map(({ seq }) => seq));
});
