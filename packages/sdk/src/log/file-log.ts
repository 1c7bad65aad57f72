import { LanternError } from '../faults.ts';
import { builtin, codeOf, type FileHandle, hasFiles, homeFolder, makeFolder } from '../files.ts';
import { toBytes } from '../signing/hmac.ts';
import { memoryLog, type WakeLog } from './log.ts';

const BLOCK_BYTES = 4 * 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * The log as a file of JSON lines that only its owner can read; `~/.lantern/log.jsonl` unless told otherwise.
 * Several processes may share one file.
 *
 * @example
 * const wake = createWake({ url, apiKey, log: fileLog('./agent-log.jsonl') });
 */
export function fileLog(file?: string): WakeLog {
  const { path } = builtin();
  const log = new LogFile(path.resolve(file ?? path.join(homeFolder(), '.lantern', 'log.jsonl')));
  // Plain functions, so that a log can be spread into one that does more.
  return {
    append: (line) => log.append(line),
    newLines: () => log.newLines(),
    eachNewLine: (take) => log.eachNewLine(take),
  };
}

class LogFile {
  readonly #path: string;
  #prepared: Promise<void> | null = null;
  /** Everything after this offset has not been read yet. */
  #offset = 0;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  async append(line: string): Promise<void> {
    try {
      this.#prepared ??= prepare(this.#path);
      await this.#prepared;
      await appendWhole(this.#path, toBytes(`${line}\n`));
    } catch (cause) {
      this.#prepared = null;
      throw unusable('written', this.#path, cause);
    }
  }

  async newLines(): Promise<string[]> {
    const lines: string[] = [];
    await this.eachNewLine((line) => lines.push(line));
    return lines;
  }

  /** One after the other: two concurrent reads would both move the offset. */
  eachNewLine(take: (line: string) => void): Promise<void> {
    const read = this.#reading
      .then(() => this.#readOn(take))
      .catch((cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw unusable('read', this.#path, cause);
      });
    this.#reading = read.catch(() => undefined);
    return read;
  }

  async #readOn(take: (line: string) => void): Promise<void> {
    const handle = await builtin().fs.open(this.#path, 'r');
    try {
      const { size } = await handle.stat();
      if (size < this.#offset) this.#offset = 0;
      for await (const block of wholeLines(handle, this.#offset, size)) {
        this.#offset += block.length;
        for (const line of new TextDecoder().decode(block).split('\n')) if (line) take(line);
      }
    } finally {
      await handle.close();
    }
  }
}

/** Creates the file for its owner alone, and makes it end with a whole line. */
async function prepare(path: string): Promise<void> {
  const node = builtin();
  await makeFolder(node.path.dirname(path));
  const handle = await node.fs.open(path, 'a+', 0o600);
  try {
    // The mode above only counts for a new file.
    await handle.chmod(0o600);
    const { size } = await handle.stat();
    if (size === 0) return;
    const last = await handle.read({ buffer: new Uint8Array(1), position: size - 1 });
    // A crash can leave half a line; without this the next line would be lost with it.
    if (last.buffer[0] !== LINE_BREAK) await handle.appendFile('\n');
  } finally {
    await handle.close();
  }
}

/**
 * One write in append mode, which `appendFile` does not guarantee for a long line: lines of several processes must
 * not mix. Only a full disk takes a part of it.
 */
async function appendWhole(path: string, line: Uint8Array): Promise<void> {
  const handle = await builtin().fs.open(path, 'a', 0o600);
  try {
    for (let rest = line; rest.length > 0; ) {
      const { bytesWritten } = await handle.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  } finally {
    await handle.close();
  }
}

/** Block by block, each up to a line break: another process may be writing the last line. */
async function* wholeLines(handle: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
  let most = BLOCK_BYTES;
  for (let at = from; at < to; ) {
    const buffer = new Uint8Array(Math.min(most, to - at));
    const { bytesRead } = await handle.read({ buffer, position: at });
    const length = buffer.subarray(0, bytesRead).lastIndexOf(LINE_BREAK) + 1;
    if (length > 0) yield buffer.subarray(0, length);
    else if (bytesRead < most || at + bytesRead >= to) return;
    // A line longer than the block needs a longer block.
    else most *= 2;
    at += length;
  }
}

function unusable(verb: string, path: string, cause: unknown): LanternError {
  const message = `The local log ${path} cannot be ${verb} (${codeOf(cause)}): give the log a path that can be.`;
  return new LanternError('log_failed', message, { cause });
}

/** What a client writes to unless told otherwise: a file where there are files, memory elsewhere. */
export function defaultLog(): WakeLog {
  return hasFiles() ? fileLog() : memoryLog();
}
