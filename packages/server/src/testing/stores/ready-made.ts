import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Passwords } from '../../core/people/login/login.ts';
import { DATABASE_FILE } from '../../storage/folder/data-folder.ts';
import { newKey, replaceKeys } from '../../storage/sealing/master-key.ts';
import { SqliteStore } from '../../storage/sqlite.ts';
import { MasterVault } from '../../storage/vault.ts';

// What every world needs and none is about: made once in a process, since it took half the time of an opening.

let migrated: Promise<Buffer> | null = null;

/** An empty store of this version in the folder, with a key of its own, as a first start leaves it. */
export async function layStore(folder: string): Promise<void> {
  migrated ??= migrate();
  writeFileSync(join(folder, DATABASE_FILE), await migrated, { mode: 0o600 });
  replaceKeys(folder, [newKey()]);
}

async function migrate(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-ready-made-'));
  const file = join(folder, DATABASE_FILE);
  const vault = new MasterVault(Buffer.from('only its schema is used'));
  await SqliteStore.open({ file, sealer: vault, sealHead: vault.mac }).stop();
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}

const hashes = new Map<string, Promise<string>>();

/** The real ones, except that each password is hashed only once for all tests. */
export function rememberingHashes(passwords: Passwords): Passwords {
  return {
    ...passwords,
    hash: (password) => {
      const known = hashes.get(password) ?? passwords.hash(password);
      hashes.set(password, known);
      return known;
    },
  };
}
