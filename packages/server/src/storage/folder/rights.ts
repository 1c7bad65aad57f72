import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const READ = constants.R_OK;
const WRITE = constants.R_OK | constants.W_OK;

export type Needed = { written: readonly string[]; read: readonly string[] };

/**
 * Refuses a folder, or a file of ours in it, that this user may not use. It is checked first, because otherwise such
 * a folder looks empty and such a file missing.
 */
export function assertRights(folder: string, { written, read }: Needed): void {
  if (!existsSync(folder)) return;
  assertMay(folder, WRITE | constants.X_OK);
  for (const name of written) assertMay(join(folder, name), WRITE);
  for (const name of read) assertMay(join(folder, name), READ);
}

function assertMay(path: string, mode: number): void {
  if (!existsSync(path)) return;
  try {
    accessSync(path, mode);
  } catch (reason) {
    const what = mode === READ ? 'read' : 'read and written';
    throw new Error(`${path} cannot be ${what} by this user. ${advice(statSync(path).uid)}`, {
      cause: reason,
    });
  }
}

function advice(owner: number): string {
  if (owner === process.getuid?.()) return 'Check its permissions.';
  return `It belongs to user ${owner}: run this as that user, or change its owner and permissions.`;
}
