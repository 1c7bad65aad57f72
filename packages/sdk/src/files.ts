import { LanternError } from './faults.ts';

/**
 * Files, where there are any. Reached through `process` and not through an import, so that bundlers for browsers
 * find nothing to resolve.
 */
export function builtin() {
  const host = typeof process === 'object' ? process : undefined;
  if (typeof host?.getBuiltinModule !== 'function') {
    throw new LanternError(
      'log_failed',
      'There are no files here: pass a log and a cursor store of your own, such as memoryLog().',
    );
  }
  const { promises } = host.getBuiltinModule('node:fs');
  return { fs: promises, path: host.getBuiltinModule('node:path'), os: host.getBuiltinModule('node:os') };
}

/** Whether this runtime has files. */
export function hasFiles(): boolean {
  return typeof process === 'object' && typeof process.getBuiltinModule === 'function';
}

/** `ENOENT` and its like, for a sentence. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
}
