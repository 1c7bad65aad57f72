import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const inRepo = (path: string): string => join(ROOT, path);

/** Takes what is to be done at the end of whatever something was made for: a test, or a file of tests. */
export type AtEnd = (work: () => void | Promise<void>) => void;

/** A folder of the test's own, gone when the test ends. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
