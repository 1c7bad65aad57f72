import { chmodSync, rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './world.ts';

/** A folder of its own, gone when the test ends. */
export function freshFolder(): string {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const NOBODY = 65_534;

/** Runs `work` as somebody who may look into the folder but not write there. Root may write anywhere, so it steps down. */
export function unprivileged<T>(folder: string, work: () => T): T {
  const isRoot = process.geteuid?.() === 0;
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
}
