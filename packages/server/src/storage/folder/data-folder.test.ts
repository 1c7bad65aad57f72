import {
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshFolder, unprivileged } from '../../testing/folders.ts';
import { aLine } from '../../testing/stores/things.ts';
import { MIGRATIONS } from '../migrations.ts';
import { newKey, replaceKeys } from '../sealing/master-key.ts';
import { Database } from '../sqlite/driver.ts';
import { inSqlite } from '../sqlite/migrate.ts';
import { MasterVault } from '../vault.ts';
import { restore } from './backup.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';

const SECRET = 'a master key that is long enough';

async function opened(folder: string, secret: string | null = null): Promise<DataFolder> {
  const data = await openDataFolder(folder, secret);
  onTestFinished(() => data.store.stop());
  return data;
}

async function filled(secret: string | null = null): Promise<string> {
  const folder = freshFolder();
  const data = await openDataFolder(folder, secret);
  await data.store.stop();
  return folder;
}

/** Another user where we may give things away, else ourselves. */
const SOMEBODY = process.getuid?.() === 0 ? 54_321 : (process.getuid?.() ?? 0);

describe('root who looks after the folder of another user leaves to them', () => {
  const ownersIn = (folder: string) =>
    new Set(readdirSync(folder).map((name) => statSync(join(folder, name)).uid));

  test('[D24][D85] what is made in it, and a key that is replaced', async () => {
    const folder = freshFolder();
    chownSync(folder, SOMEBODY, SOMEBODY);
    await opened(folder);
    expect(ownersIn(folder)).toEqual(new Set([SOMEBODY]));
    replaceKeys(folder, [newKey(), newKey()]);
    expect(ownersIn(folder)).toEqual(new Set([SOMEBODY]));
  });

  test('[D24] a backup that is restored', async () => {
    const file = join(await filled(), 'lanternroom.db');
    const folder = freshFolder();
    chownSync(folder, SOMEBODY, SOMEBODY);
    restore(file, folder);
    expect(ownersIn(folder)).toEqual(new Set([SOMEBODY]));
  });
});

describe('the first start', () => {
  test('[D24] makes the folder, a master key and a database that nobody else can read', async () => {
    const folder = join(freshFolder(), 'deep', 'data');
    await opened(folder);
    const mode = (name: string) => statSync(join(folder, name)).mode & 0o777;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual([
      'lanternroom.db',
      'lanternroom.db-shm',
      'lanternroom.db-wal',
      'secret.key',
    ]);
    for (const name of readdirSync(folder)) expect([name, mode(name)]).toEqual([name, 0o600]);
    expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  });

  test('[D25] makes no master key when one is given', async () => {
    const folder = await filled(SECRET);
    expect(existsSync(join(folder, 'secret.key'))).toBe(false);
    await opened(folder, SECRET);
  });

  test('[D25] refuses a master key that is too short', async () => {
    await expect(openDataFolder(freshFolder(), 'short')).rejects.toThrow(/at least 24 characters/);
  });

  test('[D25] is refused where the folder cannot be made or written', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    const inTheWay = /data folder .* cannot be made\. A file is in its way; choose another/;
    await expect(openDataFolder(join(file, 'data'), null)).rejects.toThrow(inTheWay);
    const sentence = /data folder .* cannot be written\. Check its owner and permissions, or choose another/;
    const folder = freshFolder();
    await expect(unprivileged(folder, () => openDataFolder(folder, null))).rejects.toThrow(sentence);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a later start', () => {
  test('[D25] opens with the same key, kept in the folder or given', async () => {
    const folder = await filled();
    const key = readFileSync(join(folder, 'secret.key'), 'utf8').trim();
    await (await openDataFolder(folder, null)).store.stop();
    await opened(folder, key);
  });

  test('[D25] with another master key is refused with the way out, and changes nothing', async () => {
    const folder = await filled(SECRET);
    const before = readFileSync(join(folder, 'lanternroom.db'));
    const wrong = openDataFolder(folder, 'another master key, also long enough');
    await expect(wrong).rejects.toThrow(
      /not the master key .* Set LANTERNROOM_SECRET .* nothing was changed/,
    );
    expect(readFileSync(join(folder, 'lanternroom.db')).equals(before)).toBe(true);
    await opened(folder, SECRET);
  });

  test('[D25] without the master key is refused, and makes no new one', async () => {
    const folder = await filled();
    rmSync(join(folder, 'secret.key'));
    await expect(openDataFolder(folder, null)).rejects.toThrow(/secret\.key is missing.*Put it back/);
    expect(existsSync(join(folder, 'secret.key'))).toBe(false);
  });

  test('[D25] with a folder that cannot be written is refused', async () => {
    // A copy, because SQLite remembers within a process how it could open a file before.
    const folder = freshFolder();
    cpSync(await filled(SECRET), folder, { recursive: true });
    const refused = unprivileged(folder, () => openDataFolder(folder, SECRET));
    await expect(refused).rejects.toThrow(/cannot be opened for writing/);
  });

  test('[D25] with a database of another program is refused, whatever the key', async () => {
    const folder = freshFolder();
    const db = new Database(join(folder, 'lanternroom.db'));
    db.exec('create table customers (name text)');
    db.close();
    const before = statSync(join(folder, 'lanternroom.db'));
    await expect(openDataFolder(folder, SECRET)).rejects.toThrow(/database of another program/);
    await expect(openDataFolder(folder, null)).rejects.toThrow(/another program|secret\.key is missing/);
    const after = statSync(join(folder, 'lanternroom.db'));
    expect([after.mode, after.mtimeMs, after.size]).toEqual([before.mode, before.mtimeMs, before.size]);
    expect(existsSync(join(folder, 'secret.key'))).toBe(false);
  });
});

describe('an older store', () => {
  /** As the first version left it, with the note of the key that sealed it. */
  function ofTheFirstVersion(): string {
    const folder = freshFolder();
    const db = new Database(join(folder, 'lanternroom.db'));
    for (const step of MIGRATIONS[0] ?? []) db.exec(inSqlite(step));
    db.exec('pragma user_version = 1; pragma application_id = 0x4c54524e');
    const id = new MasterVault(Buffer.from(SECRET)).keyId;
    db.prepare("insert into heads values ('', 'vault', 1, 0, ?, 'a mac')").run(id);
    db.close();
    return folder;
  }

  test('[D25] is not brought forward with the wrong key', async () => {
    const folder = ofTheFirstVersion();
    const file = join(folder, 'lanternroom.db');
    const before = readFileSync(file);
    const wrong = openDataFolder(folder, 'another master key, also long enough');
    await expect(wrong).rejects.toThrow(/not the master key/);
    expect(readFileSync(file).equals(before)).toBe(true);
    await opened(folder, SECRET);
  });
});

describe('the master key', () => {
  test('[D25] an empty secret.key, as a full disk once left it, seals nothing', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'secret.key'), '\n');
    await expect(openDataFolder(folder, null)).rejects.toThrow(
      /secret\.key must have at least 24 characters/,
    );
    expect(existsSync(join(folder, 'lanternroom.db'))).toBe(false);
  });
});

describe('damage in the middle of the file', () => {
  test('[D25] is found at the start, and nothing is changed', async () => {
    const folder = freshFolder();
    const data = await openDataFolder(folder, SECRET);
    await data.store.write('sp_1', [], async (tx) => {
      for (let seq = 1; seq <= 2000; seq++) await tx.ledger.insert(aLine({ seq, data: 'x'.repeat(200) }));
    });
    await data.store.stop();
    const file = join(folder, 'lanternroom.db');
    const whole = readFileSync(file);
    const page = 8192;
    // A page in the middle of the ledger: neither end of any table.
    const at = Math.floor(whole.indexOf('x'.repeat(200), Math.floor(whole.length / 2)) / page) * page;
    const copy = freshFolder();
    const damaged = Buffer.from(whole).fill(0xee, at, at + 100);
    writeFileSync(join(copy, 'lanternroom.db'), damaged);
    const refused = await openDataFolder(copy, SECRET).catch((reason) => reason);
    expect(refused.message).toMatch(/is damaged .* restore a backup/);
    expect(refused.message.match(/is damaged/g)).toHaveLength(1);
    expect(readFileSync(join(copy, 'lanternroom.db')).equals(damaged)).toBe(true);
  });
});
