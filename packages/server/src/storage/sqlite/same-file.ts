import { statSync } from 'node:fs';
import { Fault } from '../../core/faults.ts';

/** Identifies the file at a path, whatever its name; null when there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

const GONE =
  'The data folder was moved or removed while the server runs. Nothing was stored; the operator finds more in the log.';

/**
 * Throws once the path leads to another file, or to none. SQLite would go on in the file that it has open, and
 * whatever is written there is lost with the process.
 */
export function assertSameFile(path: string, opened: string | null): void {
  if (opened === null || isStill(path, opened)) return;
  const cause = new Error(
    `${path} is not the file that this server has opened. Put it back, or stop the server and start it where the data is.`,
  );
  throw new Fault('unavailable', GONE, { retryAfter: 30, cause });
}

function isStill(path: string, opened: string): boolean {
  try {
    return fileAt(path) === opened;
  } catch {
    return true; // who may not look knows nothing
  }
}
