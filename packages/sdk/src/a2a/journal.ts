import { LanternError } from '../faults.ts';
import { builtin, codeOf, makeFolder } from '../files.ts';
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
  const { fs, path } = builtin();
  const home = path.resolve(folder);
  const file = path.join(home, 'journal.jsonl');
  type Handle = Awaited<ReturnType<typeof fs.open>>;
  let handle: Handle | null = null;
  let claim: Claim | null = null;
  let waiting: { lines: readonly string[]; done: () => void; failed: (cause: unknown) => void }[] = [];
  let writing: Promise<void> | null = null;
  let hasHalfLine = false;

  async function writeOn(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        if (handle === null) throw new Error('the journal is closed');
        const text = group.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join('');
        await handle.appendFile(hasHalfLine ? `\n${text}` : text);
        // One sync for all that came while the last one ran.
        await handle.datasync();
        hasHalfLine = false;
        for (const one of group) one.done();
      } catch (cause) {
        // A full disk may have taken a part; what comes next must not be lost with it.
        hasHalfLine = true;
        for (const one of group) one.failed(unusable('written', file, cause));
      }
    }
    writing = null;
  }

  async function reopen(): Promise<void> {
    handle = await fs.open(file, 'a', 0o600);
  }

  async function open(): Promise<string[]> {
    try {
      await makeFolder(home);
      claim = await claimFolder(home);
      const text = await fs.readFile(file, 'utf8').catch((cause: unknown) => {
        if (codeOf(cause) === 'ENOENT') return '';
        throw cause;
      });
      await reopen();
      return text.split('\n').filter(Boolean);
    } catch (cause) {
      if (cause instanceof LanternError) throw cause;
      throw unusable('opened', file, cause);
    }
  }

  async function replace(lines: readonly string[]): Promise<void> {
    await writing;
    const fresh = `${file}.tmp`;
    const next = await fs.open(fresh, 'w', 0o600);
    try {
      await next.appendFile(lines.map((line) => `${line}\n`).join(''));
      await next.sync();
    } finally {
      await next.close();
    }
    await handle?.close();
    await fs.rename(fresh, file);
    hasHalfLine = false;
    await reopen();
  }

  return {
    isDurable: true,
    open,
    append: (lines) =>
      new Promise((done, failed) => {
        waiting.push({ lines, done, failed });
        writing ??= writeOn();
      }),
    replace: (lines) =>
      replace(lines).catch((cause: unknown) => {
        throw unusable('written', file, cause);
      }),
    close: async () => {
      await writing;
      await handle?.close();
      handle = null;
      await claim?.release();
    },
  };
}

function unusable(verb: string, file: string, cause: unknown): LanternError {
  const message = `The journal ${file} cannot be ${verb} (${codeOf(cause)}): give the state folder a path that can be.`;
  return new LanternError('log_failed', message, { cause });
}
