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
  throw gone(
    `${path} is not the file that this server has opened. Put it back, or stop the server and start it where the data is.`,
  );
}

/** What SQLite keeps beside a file while it is open. */
const BESIDE = ['-wal', '-shm'];

/**
 * A database file with its log and the log's index, as they were opened. `fold` brings into the file what is only in
 * the log.
 */
export class SameFiles {
  readonly #file: string;
  readonly #opened: string | null;
  readonly #beside: readonly { path: string; opened: string | null }[];
  readonly #log: string;
  readonly #fold: () => void;
  #logSize = 0;

  constructor(file: string, fold: () => void) {
    this.#file = file;
    this.#opened = fileAt(file);
    this.#beside = BESIDE.map((name) => ({ path: file + name, opened: fileAt(file + name) }));
    this.#log = `${file}-wal`;
    this.#fold = fold;
  }

  /** Throws if what is written now would be lost, or would meet what another process writes. */
  assertThere(): void {
    assertSameFile(this.#file, this.#opened);
    const lost = this.#beside.find(({ path, opened }) => opened !== null && !isStill(path, opened));
    if (lost === undefined) {
      this.#assertWhole();
      return;
    }
    // As long as nobody has begun a new log, the one that we still have open can be brought to safety.
    const isReplaced = !this.#beside.every(({ path, opened }) => isStill(path, opened) || isNowhere(path));
    if (isReplaced)
      throw gone(`${lost.path} was replaced while the server runs. Put the one that it has opened back.`);
    this.#fold();
    throw gone(
      `${lost.path} was removed while the server runs. Start the server again: what it has taken is in ${this.#file}.`,
    );
  }

  /** After a commit: by now the log has its full length. */
  wrote(): void {
    this.#logSize = Math.max(this.#logSize, sizeOf(this.#log) ?? 0);
  }

  /**
   * SQLite never makes its log shorter, but other programs may, when all of it is in the database; else what is folded
   * now is missing.
   */
  #assertWhole(): void {
    const size = sizeOf(this.#log) ?? this.#logSize;
    if (size < this.#logSize) this.#foldOrRefuse();
    this.#logSize = size;
  }

  #foldOrRefuse(): void {
    try {
      this.#fold();
    } catch (reason) {
      throw gone(
        `${this.#log} was cut off while the server runs, and what was only in it is lost. Start the server again, and compare with a backup. (${reason})`,
      );
    }
  }
}

/** Null for who may not look. */
function sizeOf(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return null; // never thrown: what has just been committed must not look as if it was not
  }
}

function gone(explanation: string): Fault {
  return new Fault('unavailable', GONE, { retryAfter: 30, cause: new Error(explanation) });
}

function isStill(path: string, opened: string | null): boolean {
  try {
    return fileAt(path) === opened;
  } catch {
    return true; // who may not look knows nothing
  }
}

function isNowhere(path: string): boolean {
  return fileAt(path) === null;
}
