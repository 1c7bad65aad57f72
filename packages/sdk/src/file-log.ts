import { LanternError } from './faults.ts';
import { builtin, codeOf, hasFiles, makeFolder } from './files.ts';
import { memoryLog, type WakeLog } from './log.ts';

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
    // One write in append mode: lines of several processes do not run into each other.
    await node.fs.appendFile(path, `${line}\n`, { mode: 0o600 });
  }

  async function readOn(): Promise<string[]> {
    const handle = await node.fs.open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size < offset) offset = 0;
      const { buffer, bytesRead } = await handle.read({
        buffer: new Uint8Array(size - offset),
        position: offset,
      });
      // Only whole lines: another process may be in the middle of one.
      const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      offset += end;
      return new TextDecoder().decode(buffer.subarray(0, end)).split('\n').filter(Boolean);
    } finally {
      await handle.close();
    }
  }

  return {
    append: (line) =>
      write(line).catch((cause: unknown) => {
        prepared = null;
        throw unusable('written', path, cause);
      }),
    newLines: () =>
      readOn().catch((cause: unknown) => {
        if (codeOf(cause) === 'ENOENT') return [];
        throw unusable('read', path, cause);
      }),
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
