import { LanternError } from '../faults.ts';
import { builtin, codeOf } from '../files.ts';
import { parseJson } from '../json.ts';

/** A folder that is ours until it is released or the process is gone. */
export interface Claim {
  release(): Promise<void>;
}

/** A process, in a way that a later one with the same number does not match. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, in ticks since boot; null where the system does not tell. */
  readonly started: string | null;
}

/** Makes the folder ours, or says who has it. What a killed process has left is taken over. */
export async function claimFolder(folder: string): Promise<Claim> {
  const { fs, path } = builtin();
  const file = path.join(folder, 'lock');
  const mine = JSON.stringify(await markOf(process.pid));
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      await fs.writeFile(file, mine, { flag: 'wx', mode: 0o600 });
      return { release: () => fs.rm(file, { force: true }) };
    } catch (cause) {
      if (codeOf(cause) !== 'EEXIST') throw cause;
      const holder = parseJson(await fs.readFile(file, 'utf8').catch(() => ''));
      if (isMark(holder) && (await isRunning(holder))) throw taken(folder, holder.pid);
      await fs.rm(file, { force: true });
    }
  }
  throw taken(folder, null);
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
    // Somebody else's process, but a process.
    return codeOf(cause) === 'EPERM';
  }
  const now = await startOf(pid);
  if (now === 'ended') return false;
  return started === null || now === null || now === started;
}

/** Linux tells; elsewhere the number alone must do. */
async function startOf(pid: number): Promise<string | null> {
  const text = await builtin()
    .fs.readFile(`/proc/${pid}/stat`, 'utf8')
    .catch(() => null);
  if (text === null) return null;
  // The name in the second field may hold spaces and brackets of its own.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'ended' : (fields[19] ?? null);
}

function isMark(value: unknown): value is ProcessMark {
  if (typeof value !== 'object' || value === null || !('pid' in value)) return false;
  return Number.isSafeInteger(value.pid) && Number(value.pid) > 0;
}
