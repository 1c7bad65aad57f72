import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshFolder, unprivileged } from '../../testing/folders.ts';
import { aDelivery, aLine } from '../../testing/stores/things.ts';
import { MIGRATIONS } from '../migrations.ts';
import { SqliteStore } from '../sqlite.ts';
import { MasterVault } from '../vault.ts';
import { Database } from './driver.ts';
import { inSqlite } from './migrate.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));

function open(file: string): SqliteStore {
  return SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
}

function opened(file: string): SqliteStore {
  const store = open(file);
  onTestFinished(() => store.stop());
  return store;
}

/** A store with a few pages in it, closed. */
async function filled(): Promise<string> {
  const file = join(freshFolder(), 'store.db');
  const store = open(file);
  await store.write('sp_1', [], async (tx) => {
    for (let seq = 1; seq <= 500; seq++) await tx.ledger.insert(aLine({ seq, data: 'x'.repeat(200) }));
  });
  await store.stop();
  return file;
}

function sql(file: string, statement: string): unknown[] {
  const db = new Database(file);
  try {
    return db.prepare(statement).all().map(Object.values);
  } finally {
    db.close();
  }
}

/** The bytes of a sound store, and a place to put a damaged copy. */
async function copies(): Promise<{ sound: Buffer; put: (bytes: Uint8Array) => string }> {
  const sound = readFileSync(await filled());
  const put = (bytes: Uint8Array) => {
    const file = join(freshFolder(), 'store.db');
    writeFileSync(file, bytes);
    return file;
  };
  await open(put(sound)).stop();
  return { sound, put };
}

/** A digest of every file beside the database; an empty log and its index aside, which SQLite makes at will. */
function everything(file: string): Record<string, string> {
  const folder = dirname(file);
  const names = readdirSync(folder).filter(
    (name) => !name.endsWith('-shm') && statSync(join(folder, name)).size > 0,
  );
  return Object.fromEntries(names.map((name) => [name, hash('sha256', readFileSync(join(folder, name)))]));
}

/** It refuses with a sentence, and leaves every byte as it was. */
function expectRefusal(file: string, sentence: RegExp): void {
  const before = everything(file);
  expect(() => open(file)).toThrow(sentence);
  expect(everything(file)).toEqual(before);
}

describe('durability', () => {
  test('[D26] synchronous is FULL and the journal a write-ahead log, before and after transactions', async () => {
    const store = opened(join(freshFolder(), 'store.db'));
    const durable = { synchronous: 2, journalMode: 'wal' };
    expect(store.durability()).toEqual(durable);
    await store.write('sp_1', [], (tx) => tx.ledger.insert(aLine()));
    expect(store.durability()).toEqual(durable);
    const failed = store.write('sp_1', [], (tx) => tx.ledger.insert(aLine()));
    await expect(failed).rejects.toThrow();
    expect(store.durability()).toEqual(durable);
  });

  test('[D26] what was answered is there for a second reader before the first one closes', async () => {
    const file = join(freshFolder(), 'store.db');
    const store = opened(file);
    await store.write('sp_1', [], (tx) => tx.ledger.insert(aLine()));
    expect(sql(file, 'select seq from ledger')).toEqual([[1]]);
  });
});

describe('migrations', () => {
  test('[D25] an empty folder gets the whole schema, and opening again changes nothing', async () => {
    const file = await filled();
    const schema = sql(file, 'select name, sql from sqlite_master order by name');
    expect(sql(file, 'pragma user_version')).toEqual([[MIGRATIONS.length]]);
    const before = readFileSync(file);
    await open(file).stop();
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(sql(file, 'select name, sql from sqlite_master order by name')).toEqual(schema);
  });

  test('[D25] an empty file is taken as a fresh start', async () => {
    const file = join(freshFolder(), 'store.db');
    writeFileSync(file, '');
    await opened(file).write('sp_1', [], (tx) => tx.ledger.insert(aLine()));
  });

  test('[D25] a store of an earlier version is brought forward, with its data', async () => {
    const file = join(freshFolder(), 'store.db');
    const db = new Database(file);
    for (const step of MIGRATIONS[0] ?? []) db.exec(inSqlite(step));
    db.exec('pragma user_version = 1; pragma application_id = 0x4c54524e');
    db.exec("insert into ledger values ('sp_1', 1, 1, 'test', 'thing.done', 'thing', '{}', 'hash')");
    db.close();
    const store = opened(file);
    expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toMatchObject([{ seq: 1, hash: 'hash' }]);
    expect(sql(file, 'pragma user_version')).toEqual([[MIGRATIONS.length]]);
  });

  test('[D25] a step that cannot be done leaves the store as it was, also what the steps before it did', () => {
    const file = join(freshFolder(), 'store.db');
    const db = new Database(file);
    for (const step of MIGRATIONS[0] ?? []) db.exec(inSqlite(step));
    db.exec('pragma user_version = 1; pragma application_id = 0x4c54524e');
    const later = MIGRATIONS.slice(2).flat();
    const last = later
      .flatMap((step) => /^create (?:table|(?:unique )?index) (\w+)/.exec(step)?.[1] ?? [])
      .at(-1);
    db.exec(`create table "${last}" (in_the_way text)`);
    db.close();
    const schema = sql(file, 'select name from sqlite_master order by name');
    expect(() => open(file)).toThrow(/already/);
    expect(sql(file, 'pragma user_version')).toEqual([[1]]);
    expect(sql(file, 'select name from sqlite_master order by name')).toEqual(schema);
  });

  test('[D25] deliveries from before ids told their place are found by them, and so are new ones', async () => {
    const file = join(freshFolder(), 'store.db');
    const db = new Database(file);
    for (const step of MIGRATIONS.slice(0, 4).flat()) db.exec(inSqlite(step));
    db.exec('pragma user_version = 4; pragma application_id = 0x4c54524e');
    const { id, ...old } = { id: '2f1b7a52-5a55-4c47-9be6-0c9a7c6f0b11', seq: 7, createdAt: 40 };
    db.exec(`insert into deliveries (space_id, seq, delivery_id, agent_id, tier, provider, type, headline, summary,
      content_sha256, created_at, changed_at, status, state, section, section_at, revision, body)
      values ('sp_1', 7, '${id}', 'agent-01', 'test', 'p', 'output', 'h', 's', 'hash', 40, 40, 'approved', 'decided', 'earlier', -1, 1, x'01')`);
    db.exec(
      `insert into decisions values ('sp_1', 8, '${id}', 'agent-01', 'approved', 'pe_1', 100, 100, 'effective', 'hash', x'01')`,
    );
    db.close();
    const store = opened(file);
    await store.write('sp_1', [], async (tx) => {
      const made = await tx.deliveries.idAt(9);
      await tx.deliveries.insert(aDelivery({ space: 'sp_1', seq: 9, id: made }), new Uint8Array([2]));
      expect(await tx.deliveries.get(made)).toMatchObject({ id: made, seq: 9 });
    });
    expect(sql(file, 'select delivery_id from other_ids')).toEqual([[id]]);
    await store.read('sp_1', async (tx) => {
      expect(await tx.deliveries.get(id)).toMatchObject({ id, ...old });
      expect(await tx.deliveries.body(id)).toEqual(new Uint8Array([1]));
      expect(await tx.decisions.current(id)).toMatchObject({ seq: 8, deliveredAt: 40, decidedAt: 100 });
    });
  });

  test('[D25] two that start at the same time agree', async () => {
    const file = join(freshFolder(), 'store.db');
    const [one, two] = [opened(file), opened(file)];
    await one.write('sp_1', [], (tx) => tx.ledger.insert(aLine()));
    expect(await two.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(1);
  });
});

describe('refusals', () => {
  test('[D25] a file of a newer version', async () => {
    const file = await filled();
    sql(file, `pragma user_version = ${MIGRATIONS.length + 1}`);
    expectRefusal(file, /newer Lanternroom .* Start the newer version, or restore a backup/);
  });

  test('[D25] a database of another program', () => {
    const file = join(freshFolder(), 'store.db');
    const db = new Database(file);
    db.exec('create table customers (name text)');
    db.close();
    expectRefusal(file, /database of another program\. Choose another folder with --data/);
  });

  test('[D25] a file that is not a database at all', () => {
    const file = join(freshFolder(), 'store.db');
    writeFileSync(file, 'Dear diary, '.repeat(1000));
    expectRefusal(file, /is damaged .* Nothing was changed\. Move it aside and restore a backup/);
  });

  test('[D25] a file that was cut off', async () => {
    const { sound, put } = await copies();
    for (const left of [sound.length - 8192, Math.floor(sound.length / 2), 8192, 8000, 100]) {
      expectRefusal(
        put(sound.subarray(0, left)),
        /is damaged .* Nothing was changed\. Move it aside and restore a backup/,
      );
    }
  });

  test('[D25] a file whose first pages were overwritten', async () => {
    const { sound, put } = await copies();
    for (const at of [0, 100, 8192]) {
      const damaged = Buffer.from(sound).fill(0xee, at, at + 8192);
      expectRefusal(put(damaged), /is damaged .* Nothing was changed\. Move it aside and restore a backup/);
    }
  });

  test('[D25] a folder that cannot be written', async () => {
    // A copy, because SQLite remembers within a process how it could open a file before.
    const { sound, put } = await copies();
    const file = put(sound);
    unprivileged(dirname(file), () => {
      const sentence = /cannot be opened for writing\. Check the folder's owner and permissions/;
      expect(() => open(file)).toThrow(sentence);
    });
  });

  test('[D25] a folder that is not there', () => {
    const file = join(freshFolder(), 'missing', 'store.db');
    expect(() => open(file)).toThrow(/cannot be opened for writing/);
    expect(existsSync(file)).toBe(false);
  });
});
