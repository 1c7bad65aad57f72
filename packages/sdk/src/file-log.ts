import { LanternError } from './faults.ts';
import { builtin, codeOf, hasFiles, makeFolder } from './files.ts';
import { toBytes } from './hmac.ts';
import { memoryLog, type WakeLog } from './log.ts';

const BLOCK_BYTES = 4 * 1024 * 1024;

/**
 * The log as a file of JSON lines that only its owner can read; `~/.lantern/log.jsonl` unless told otherwise.
 * Several processes may share one file.
 *
 * @example
 * const wake = createWake({ url, apiKey, log: fileLog('./agent-log.jsonl') });
 */
export function fileLog(file?: string): WakeLog {
  const node = builtin();
  const path = node.path.resolve(file ?? node.path.join(node.os.homedir(), '.lantern', 'log.jsonl'));
  let prepared: Promise<void> | null = null;
  let offset = 0;
  let reading: Promise<unknown> = Promise.resolve();

  async function prepare(): Promise<void> {
    await makeFolder(node.path.dirname(path));
    const handle = await node.fs.open(path, 'a+', 0o600);
    try {
      // The mode above only counts for a new file.
      await handle.chmod(0o600);
      const { size } = await handle.stat();
      if (size === 0) return;
      const last = await handle.read({ buffer: new Uint8Array(1), position: size - 1 });
      // A crash can leave half a line; without this the next line would be lost with it.
      if (last.buffer[0] !== 0x0a) await handle.appendFile('\n');
    } finally {
      await handle.close();
    }
  }

  async function write(line: string): Promise<void> {
    prepared ??= prepare();
    await prepared;
    const handle = await node.fs.open(path, 'a', 0o600);
    try {
      // One write in append mode, which `appendFile` does not do for a long line: those of several processes must not
      // run into each other. Only a disk that is full takes a part of it.
      for (let rest = toBytes(`${line}\n`); rest.length > 0; ) {
        const { bytesWritten } = await handle.write(rest);
        rest = rest.subarray(bytesWritten);
      }
    } finally {
      await handle.close();
    }
  }

  async function readOn(take: (line: string) => void): Promise<void> {
    const handle = await node.fs.open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size < offset) offset = 0;
      for (let most = BLOCK_BYTES; offset < size; ) {
        const buffer = new Uint8Array(Math.min(most, size - offset));
        const { bytesRead } = await handle.read({ buffer, position: offset });
        // Only whole lines: another process may be in the middle of one.
        const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
        if (end === 0 && (bytesRead < most || offset + bytesRead >= size)) return;
        // A line that is longer than the block wants a longer block.
        if (end === 0) most *= 2;
        offset += end;
        for (const line of new TextDecoder().decode(buffer.subarray(0, end)).split('\n'))
          if (line) take(line);
      }
    } finally {
      await handle.close();
    }
  }

  /** One after the other: two that read at once would both move the place on. */
  function eachNewLine(take: (line: string) => void): Promise<void> {
    const read = reading
      .then(() => readOn(take))
      .catch((cause: unknown) => {
        if (codeOf(cause) !== 'ENOENT') throw unusable('read', path, cause);
      });
    reading = read.catch(() => undefined);
    return read;
  }

  return {
    append: (line) =>
      write(line).catch((cause: unknown) => {
        prepared = null;
        throw unusable('written', path, cause);
      }),
    newLines: async () => {
      const lines: string[] = [];
      await eachNewLine((line) => lines.push(line));
      return lines;
    },
    eachNewLine,
  };
}

function unusable(verb: string, path: string, cause: unknown): LanternError {
  const message = `The local log ${path} cannot be ${verb} (${codeOf(cause)}): give the log a path that can be.`;
  return new LanternError('log_failed', message, { cause });
}

/** What a client writes to unless told otherwise: a file where there are files, memory elsewhere. */
export function defaultLog(): WakeLog {
  return hasFiles() ? fileLog() : memoryLog();
}
