import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const inRepo = (path: string): string => join(ROOT, path);

/** A folder of the test's own, gone when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
