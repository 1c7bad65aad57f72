import { open, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endOf } from '../command.ts';

const MOST_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 4_000;
const TAIL_CHARACTERS = 1_000;

/** The end of what a run has said on standard error. */
export async function tailOf(folder: string): Promise<string> {
  const { said, before } = filesOf(folder);
  const bytes = Buffer.concat([await endOfFile(before), await endOfFile(said)]);
  return endOf(bytes.toString('utf8'), TAIL_CHARACTERS).trim();
}

/**
 * Nobody reads more than its end, so that a command that complains for hours need not fill the disk. The command writes
 * at the end of the file wherever that is, and goes on.
 */
export async function trimStderr(folder: string): Promise<void> {
  const { said, before } = filesOf(folder);
  const size = (await stat(said).catch(() => null))?.size ?? 0;
  if (size <= MOST_BYTES) return;
  await writeFile(before, await endOfFile(said), { mode: 0o600 });
  await truncate(said);
}

function filesOf(folder: string) {
  return { said: join(folder, 'err'), before: join(folder, 'err.before') };
}

async function endOfFile(file: string): Promise<Buffer> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return Buffer.alloc(0);
  try {
    const { size } = await handle.stat();
    const position = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(TAIL_BYTES), position });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
