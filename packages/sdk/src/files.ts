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

/**
 * The user's folder. An empty HOME counts as none: Node would take it literally, and files would land in the working
 * directory.
 */
export function homeFolder(): string {
  const { os } = builtin();
  return os.homedir() || os.userInfo().homedir;
}

export type FileHandle = Awaited<ReturnType<ReturnType<typeof builtin>['fs']['open']>>;

/** Whether this runtime has files. */
export function hasFiles(): boolean {
  return typeof process === 'object' && typeof process.getBuiltinModule === 'function';
}

/** `ENOENT` and its like, for a sentence. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
}

/**
 * Makes a folder and its parents, for its owner alone. Step by step: Node's recursive version never ends where a file
 * system reports "no such folder" inside an existing one, as /proc and homes that are mounted on demand do.
 */
export async function makeFolder(folder: string): Promise<void> {
  const { fs, path } = builtin();
  const isThere = () =>
    fs.stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
  if (await isThere()) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above);
  await fs.mkdir(folder, { mode: 0o700 }).catch(async (cause: unknown) => {
    // Another process may have made it meanwhile.
    if (!(await isThere())) throw cause;
  });
}
