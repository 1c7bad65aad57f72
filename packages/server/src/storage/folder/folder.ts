import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../error-code.ts';

/**
 * Makes a folder and its parents, readable by us alone. Step by step: Node's recursive version never ends where a
 * file system reports "no such folder" inside an existing one, as /proc does.
 */
export function makeFolder(
  folder: string,
  what = 'data folder',
  choose = 'choose another with --data',
): void {
  try {
    makeStepwise(resolve(folder));
  } catch (reason) {
    throw new Error(`The ${what} ${folder} cannot be made. ${whyNot(reason)} ${choose}.`, { cause: reason });
  }
}

function makeStepwise(folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeStepwise(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (reason) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw reason;
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function whyNot(reason: unknown): string {
  const code = codeOf(reason);
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'A file is in its way;';
  if (isFull(code)) return 'The disk is full; free some space and start again, or';
  if (code === 'ENOENT') return 'This file system takes no folders;';
  return 'Check its owner and permissions, or';
}

/** No room, or no more of it for us. */
export function isFull(code: string): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

/**
 * Afterwards the file has the old content or the new one, whatever happens meanwhile; it is on disk when this
 * returns.
 */
export function replaceFile(file: string, text: string): void {
  const part = `${file}.${process.pid}.part`;
  try {
    writePrivately(part, text);
    if (existsSync(file)) leaveTo(file, part);
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
  syncFolder(dirname(file));
}

export function writePrivately(file: string, text: string): void {
  const opened = openSync(file, 'wx', 0o600);
  try {
    writeSync(opened, text);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  leaveTo(dirname(file), file);
}

/**
 * A file that root makes in somebody's folder is given to them: the server runs as its own user, and could not start
 * with a key that it cannot read. In a container root may lack the right to do so; then the file stays as it is.
 */
export function leaveTo(owner: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(owner);
  try {
    chownSync(file, uid, gid);
  } catch (reason) {
    if (codeOf(reason) !== 'EPERM') throw reason;
  }
}

export function syncFolder(folder: string): void {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
