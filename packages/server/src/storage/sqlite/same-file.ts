import { statSync } from 'node:fs';
import { Fault } from '../../core/faults.ts';

/** Which file stands at a path, whatever it is called; null when there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

const GONE =
  'The data folder was moved or removed while the server runs. Nothing was stored; the operator finds more in the log.';

/**
 * Throws once another file, or none, stands where ours was opened. SQLite would go on in the one that it has open, and
 * whatever it takes there is lost with the process.
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
