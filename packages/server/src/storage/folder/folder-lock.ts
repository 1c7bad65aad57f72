import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import { Database } from '../sqlite/driver.ts';
import { isFull, leaveTo, makeFolder } from './folder.ts';

export const LOCK_FILE = 'server.lock';

const START_ELSEWHERE = ', or choose another folder with --data. The other commands work beside it.';

export type FolderLock = { release(): void };

/**
 * One server per data folder. The operating system holds SQLite's lock and releases it when the process ends, however
 * it ends: no stale lock is ever left. Commands do not take it, except the one that moves the data away.
 */
export function lockFolder(folder: string, instead = START_ELSEWHERE): FolderLock {
  makeFolder(folder);
  const file = join(folder, LOCK_FILE);
  let db: Database | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600));
    leaveTo(folder, file);
    db = new Database(file);
    // The file stays empty: it exists only to be locked.
    db.exec('pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive');
  } catch (reason) {
    db?.close();
    throw new Error(whyNot(folder, reason, instead), { cause: reason });
  }
  const held = db;
  return {
    release: () => {
      if (held.isTransaction) held.exec('rollback');
      held.close();
    },
  };
}

function whyNot(folder: string, reason: unknown, instead: string): string {
  const code = codeOf(reason);
  if (code.startsWith('SQLITE_BUSY')) {
    return `A server is already running on ${folder}. Stop it first${instead}`;
  }
  if (isFull(code)) return `The disk of ${folder} is full. Free some space and start again.`;
  return `The data folder ${folder} cannot be written. Check its owner and permissions, or choose another with --data.`;
}
