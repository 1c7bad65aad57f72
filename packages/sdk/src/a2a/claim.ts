import { LanternError } from '../faults.ts';
import { builtin, codeOf } from '../files.ts';
import { parseJson } from '../json.ts';

/** A folder that is ours until it is released or the process is gone. */
export interface Claim {
  release(): Promise<void>;
}

/** Identifies a process, so that a later one with the same number does not match. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, in ticks since boot; null where the system does not tell. */
  readonly started: string | null;
}

/** Claims the folder, or says who has it. What a killed process left is taken over. */
export async function claimFolder(folder: string): Promise<Claim> {
  const { fs, path } = builtin();
  const file = path.join(folder, 'lock');
  const mine = JSON.stringify(await markOf(process.pid));
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      await fs.writeFile(file, mine, { flag: 'wx', mode: 0o600 });
      return { release: () => fs.rm(file, { force: true }) };
    } catch (cause) {
      if (codeOf(cause) !== 'EEXIST') throw cause;
    }
    const holder = await holderOf(file);
    if (holder !== null && holder !== 'gone') throw taken(folder, holder.pid);
    if (holder === 'gone') await removeLeft(file);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw taken(folder, null);
}

const TRIES = 100;
const PAUSE_MS = 20;
/** Writing follows making the file within microseconds, unless the process was killed right there. */
const WRITTEN_WITHIN_MS = 1_000;
const REMOVED_WITHIN_MS = 10_000;

/** Who has it; `gone` when that process has ended; null when the file is gone, or is just being written. */
async function holderOf(file: string): Promise<ProcessMark | 'gone' | null> {
  const { fs } = builtin();
  const text = await fs.readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const holder = parseJson(text);
  if (isMark(holder)) return (await isRunning(holder)) ? holder : 'gone';
  return (await isOlder(file, WRITTEN_WITHIN_MS)) ? 'gone' : null;
}

/**
 * Removes what a killed process left. One at a time, and checked again: of two that find it at once, the second would
 * remove what the first has put in its place, and both would have the folder.
 */
async function removeLeft(file: string): Promise<void> {
  const { fs } = builtin();
  const turn = `${file}.removing`;
  const isOurTurn = await fs.mkdir(turn).then(
    () => true,
    () => false,
  );
  if (!isOurTurn) {
    if (await isOlder(turn, REMOVED_WITHIN_MS)) await fs.rmdir(turn).catch(() => undefined);
    return;
  }
  try {
    if ((await holderOf(file)) === 'gone') await fs.rm(file, { force: true });
  } finally {
    await fs.rmdir(turn).catch(() => undefined);
  }
}

async function isOlder(path: string, ms: number): Promise<boolean> {
  const found = await builtin()
    .fs.stat(path)
    .catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ms;
}

function taken(folder: string, pid: number | null): LanternError {
  const who = pid === null ? 'Another process' : `Process ${pid}`;
  const message = `${who} works with the state folder ${folder}: stop it first, or give this one a folder of its own.`;
  return new LanternError('wrong_usage', message);
}

async function markOf(pid: number): Promise<ProcessMark> {
  return { pid, started: await startOf(pid) };
}

/**
 * Whether this very process still runs, and not a later one with its number.
 *
 * @example
 * if (!(await isRunning({ pid: 4242, started: null }))) show('It is gone.');
 */
export async function isRunning({ pid, started }: ProcessMark): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (cause) {
    // A process of another user, but a process.
    return codeOf(cause) === 'EPERM';
  }
  const now = await startOf(pid);
  if (now === 'ended') return false;
  return started === null || now === null || now === started;
}

/** Linux says when a process started; elsewhere the number alone must do. */
async function startOf(pid: number): Promise<string | null> {
  const text = await builtin()
    .fs.readFile(`/proc/${pid}/stat`, 'utf8')
    .catch(() => null);
  if (text === null) return null;
  // The name in the second field may contain spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
}

function isMark(value: unknown): value is ProcessMark {
  if (typeof value !== 'object' || value === null || !('pid' in value)) return false;
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 0;
}
