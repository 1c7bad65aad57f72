import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Step by step: Node's own recursive way never ends where a file system says "no such
 * folder" to a name in a folder that is there, as /proc does, and homes that are mounted on demand.
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
    const code = reason instanceof Error && 'code' in reason ? reason.code : reason;
    throw new Error(`The folder ${folder} cannot be made (${code}). Check HOME, and who may write there.`, {
      cause: reason,
    });
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
