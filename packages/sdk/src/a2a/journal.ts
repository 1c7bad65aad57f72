import { LanternError } from '../faults.ts';
import { builtin, codeOf, type FileHandle, makeFolder } from '../files.ts';
import { type Claim, claimFolder } from './claim.ts';

/** Where a connection remembers what it took and what it said (A13, A15). Lines are JSON without a line break. */
export interface TaskJournal {
  /**
   * Whether what was appended survives the process. If so a task is acknowledged as soon as it is in here; otherwise
   * only when it is done, and the hub gives it out again should the process die before that.
   */
  readonly isDurable: boolean;
  /** Everything from earlier runs, oldest first. Called once, before anything else. */
  open(): Promise<string[]>;
  /** Resolves when the lines are as safe as they will be. */
  append(lines: readonly string[]): Promise<void>;
  /** Puts these lines in the place of all others; nothing is appended meanwhile. */
  replace(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * A journal that lives as long as the process.
 *
 * @example
 * const connection = connect({ url, apiKey, journal: memoryJournal(), onTask: async (task) => `Hello, ${task.text}` });
 */
export function memoryJournal(): TaskJournal {
  return {
    isDurable: false,
    open: async () => [],
    append: async () => undefined,
    replace: async () => undefined,
    close: async () => undefined,
  };
}

/**
 * A journal in a folder of its own that only its owner can read. One process at a time: a second one is refused.
 *
 * @example
 * const connection = connect({ url, apiKey, journal: fileJournal(folder), onTask: async () => 'Done.' });
 */
export function fileJournal(folder: string): TaskJournal {
  const journal = new JournalFile(builtin().path.resolve(folder));
  return {
    isDurable: true,
    open: () => journal.open(),
    append: (lines) => journal.append(lines),
    replace: (lines) => journal.replace(lines),
    close: () => journal.close(),
  };
}

interface Waiting {
  readonly lines: readonly string[];
  readonly done: () => void;
  readonly failed: (cause: unknown) => void;
}

class JournalFile {
  readonly #fs = builtin().fs;
  readonly #folder: string;
  readonly #path: string;
  #handle: FileHandle | null = null;
  #claim: Claim | null = null;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  #hasHalfLine = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = builtin().path.join(folder, 'journal.jsonl');
  }

  async open(): Promise<string[]> {
    try {
      await makeFolder(this.#folder);
      this.#claim = await claimFolder(this.#folder);
      const text = await this.#fs.readFile(this.#path, 'utf8').catch((cause: unknown) => {
        if (codeOf(cause) === 'ENOENT') return '';
        throw cause;
      });
      await this.#reopen();
      return text.split('\n').filter(Boolean);
    } catch (cause) {
      if (cause instanceof LanternError) throw cause;
      throw unusable('opened', this.#path, cause);
    }
  }

  append(lines: readonly string[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ lines, done, failed });
      this.#writing ??= this.#writeOn();
    });
  }

  async replace(lines: readonly string[]): Promise<void> {
    try {
      await this.#writing;
      const fresh = `${this.#path}.tmp`;
      await this.#writeWhole(fresh, lines);
      await this.#handle?.close();
      await this.#fs.rename(fresh, this.#path);
      this.#hasHalfLine = false;
      await this.#reopen();
    } catch (cause) {
      throw unusable('written', this.#path, cause);
    }
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = null;
    await this.#claim?.release();
  }

  async #writeOn(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One sync for everything that arrived during the last one.
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#appendNow(group.flatMap(({ lines }) => lines));
        for (const one of group) one.done();
      } catch (cause) {
        for (const one of group) one.failed(unusable('written', this.#path, cause));
      }
    }
    this.#writing = null;
  }

  async #appendNow(lines: readonly string[]): Promise<void> {
    const start = this.#hasHalfLine ? '\n' : '';
    // Until it is synced: a full disk may take only a part, and the next line must not be lost with it.
    this.#hasHalfLine = true;
    if (this.#handle === null) throw new Error('the journal is closed');
    await this.#handle.appendFile(start + toText(lines));
    await this.#handle.datasync();
    this.#hasHalfLine = false;
  }

  async #writeWhole(path: string, lines: readonly string[]): Promise<void> {
    const handle = await this.#fs.open(path, 'w', 0o600);
    try {
      await handle.appendFile(toText(lines));
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #reopen(): Promise<void> {
    this.#handle = await this.#fs.open(this.#path, 'a', 0o600);
  }
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function unusable(verb: string, path: string, cause: unknown): LanternError {
  const message = `The journal ${path} cannot be ${verb} (${codeOf(cause)}): give the state folder a path that can be.`;
  return new LanternError('log_failed', message, { cause });
}
