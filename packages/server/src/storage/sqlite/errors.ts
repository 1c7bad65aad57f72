import { DAMAGED, Fault, isFault } from '../../core/faults.ts';
import { codeOf } from '../error-code.ts';

/**
 * The error as a door can report it, with the cause for the log. An unknown one stays as it is: a bug, logged in
 * full.
 */
export function storageFault(reason: unknown): unknown {
  if (isFault(reason)) return reason;
  const code = codeOf(reason);
  const message = reason instanceof Error ? reason.message : '';
  if (code.startsWith('SQLITE_FULL') || /disk is full|ENOSPC/i.test(message)) {
    return new Fault('storage_full', 'The disk is full. Nothing was stored; free some space and retry.', {
      retryAfter: 30,
      cause: reason,
    });
  }
  if (code.startsWith('SQLITE_BUSY') || /database is locked/i.test(message)) {
    return unavailable('The store is busy. Nothing was stored; retry in a moment.', 2, reason);
  }
  if (isDamage(code, message)) {
    return unavailable(DAMAGED, 60, reason);
  }
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY')) {
    const words = 'The store cannot be written. Nothing was stored; the operator finds more in the log.';
    return unavailable(words, 30, reason);
  }
  return reason;
}

function unavailable(message: string, retryAfter: number, cause: unknown): Fault {
  return new Fault('unavailable', message, { retryAfter, cause });
}

function isDamage(code: string, message: string): boolean {
  return (
    code.startsWith('SQLITE_CORRUPT') ||
    code.startsWith('SQLITE_NOTADB') ||
    /database disk image is malformed|^malformed: |not a database/i.test(message)
  );
}

/** Refusals at start-up: one sentence with the way out, never a silent repair. */
export function openStoreError(reason: unknown, file: string): Error {
  const code = codeOf(reason);
  const message = reason instanceof Error ? reason.message : String(reason);
  if (code.startsWith('SQLITE_FULL') || /disk is full|ENOSPC/i.test(message)) {
    return new Error(`The disk of ${file} is full. Free some space and start again; nothing was changed.`, {
      cause: reason,
    });
  }
  if (isDamage(code, message)) {
    return new Error(
      `The database ${file} is damaged (${message}). Nothing was changed. Move it aside and restore a backup with "lanternroom restore FILE --data DIR".`,
      { cause: reason },
    );
  }
  if (code.startsWith('SQLITE_IOERR')) {
    return new Error(
      `The disk of ${file} does not take what is written to it (${message}). Check its space, limits and health, and start again; nothing was changed.`,
      { cause: reason },
    );
  }
  const closed = code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY');
  // The driver gives no code when the file cannot even be created.
  if (closed || /unable to open|readonly database/i.test(message)) {
    return new Error(
      `The database ${file} cannot be opened for writing. Check the folder's owner and permissions.`,
      { cause: reason },
    );
  }
  return reason instanceof Error ? reason : new Error(message);
}
