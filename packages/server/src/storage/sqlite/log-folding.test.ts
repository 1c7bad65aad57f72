import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freshFolder } from '../../testing/folders.ts';
import { aLine } from '../../testing/stores/things.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';
import { Database } from './driver.ts';
import { LogFolding, OWN_MARK } from './log-folding.ts';

/** From the log's header: how often it was restarted. */
const TIMES_BEGUN = 12;

const vault = new MasterVault(Buffer.from('a master key for tests'));

function opened() {
  const file = join(freshFolder(), 'store.db');
  const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
  onTestFinished(() => store.stop());
  let seq = 0;
  /** Commits that put more than a megabyte into the log each. */
  const write = async (commits: number) => {
    for (let n = 0; n < commits; n++) {
      await store.write('sp_1', [], async (tx) => {
        for (let row = 0; row < 128; row++)
          await tx.ledger.insert(aLine({ seq: ++seq, data: 'x'.repeat(8192) }));
      });
    }
  };
  const log = () => readFileSync(`${file}-wal`);
  const begun = () => log().readUInt32BE(TIMES_BEGUN);
  const untilBegunAnew = async (before: number) => {
    while (begun() === before) await store.write('sp_1', [], (tx) => tx.ledger.insert(aLine({ seq: ++seq })));
  };
  return { file, store, write, log, begun, untilBegunAnew, rows: () => seq };
}

function linesIn(db: Database): number {
  return (db.prepare('select count(*) as n from ledger').get() as { n: number }).n;
}

test('[D26] the log is folded beside the writer and starts over, long before SQLite would do it itself', async () => {
  const { write, log, begun, untilBegunAnew } = opened();
  await write(1);
  const before = begun();
  await write(30);
  await untilBegunAnew(before);
  expect(log().length).toBeLessThan(OWN_MARK * 8192);
});

test('[D26] a reader that stays in the log keeps what it saw, and the log starts over when it has gone', async () => {
  const { file, write, begun, untilBegunAnew, rows } = opened();
  await write(1);
  const reader = new Database(file);
  onTestFinished(() => void reader.close());
  reader.exec('begin');
  const seen = linesIn(reader);
  const before = begun();
  await write(45);
  expect(linesIn(reader)).toBe(seen);
  expect(begun()).toBe(before);
  reader.exec('commit');
  expect(linesIn(reader)).toBe(rows());
  await write(30);
  await untilBegunAnew(before);
});

test('[D26] what another thread is said to have written counts as well', async () => {
  const { file, store, write } = opened();
  await write(10);
  const folded = () => statSync(file).size;
  expect(folded()).toBeLessThan(1024 * 1024);
  store.hear(new Map([['desk:sp_1', new Set(Array.from({ length: 2000 }, (_, i) => String(i)))]]));
  await vi.waitFor(() => expect(folded()).toBeGreaterThan(10 * 1024 * 1024), { timeout: 240_000 });
});

test('[D26] a store that is stopped while its log is being folded is whole without it', async () => {
  const { file, store, write, rows } = opened();
  await write(31);
  const last = write(1);
  await Promise.all([last, store.stop()]);
  const db = new Database(file);
  onTestFinished(() => void db.close());
  expect(linesIn(db)).toBe(rows());
  expect(db.prepare('pragma integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
});

test('[D26] a thread that leaves without a word keeps no writer waiting, and the next fold has another', async () => {
  const file = join(freshFolder(), 'store.db');
  const writer = new Database(file);
  onTestFinished(() => void writer.close());
  const program = new URL('data:text/javascript,process.exit()');
  const folding = new LogFolding({ file, writer, askForTurn: () => {}, program });
  await folding.finish();
  await folding.finish();
  await folding.stop();
});
