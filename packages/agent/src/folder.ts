import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './error-code.ts';

/**
 * Makes a folder and its parents. Step by step: Node's recursive version never ends where a file system reports "no
 * such folder" inside an existing one, as /proc and homes that are mounted on demand do.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (reason) {
    // Another process may have made it meanwhile.
    if (isFolder(folder)) return;
    throw cannotBeMade(folder, reason);
  }
}

/** The code is kept for callers with words of their own. `EEXIST` means that a file is in the way. */
function cannotBeMade(folder: string, reason: unknown): Error {
  const given = codeOf(reason);
  const code = given === 'EEXIST' ? 'ENOTDIR' : given;
  const words = `The folder ${folder} cannot be made (${code}). Check HOME, and who may write there.`;
  return Object.assign(new Error(words, { cause: reason }), { code });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // a file stands where a folder is meant
  }
}
