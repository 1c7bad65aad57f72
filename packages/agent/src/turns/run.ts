import { spawn } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '@lanternroom/sdk/a2a';
import { trimStderr } from './stderr.ts';

/** How a command ended, as far as can be known. */
export type RunEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'too_much' }
  /** Killed from outside, or with the machine. */
  | { readonly kind: 'vanished' };

export interface RunRequest {
  /** A folder of its own, the same for the same turn in every process: a run that is found there is continued. */
  readonly folder: string;
  readonly command: string;
  readonly input: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  readonly signal: AbortSignal;
  /** Called with each whole line of output, from the first one, also after a restart. */
  readonly onLine?: ((line: string, number: number) => Promise<void>) | undefined;
}

export const OUTPUT_MOST = 64 * 1024 * 1024;
/** How often a process is checked that we did not start ourselves. */
const LOOK_MS = 200;

/**
 * The command runs under this script, in its own process group, and leaves all its output in files: it goes on when
 * the connector is killed, and the next connector reads how it ended. Only one process can make the folder `started`,
 * so the command runs once, whatever dies when. The trap keeps this shell alive to record how a command ended that
 * was told to stop.
 */
const KEEPER = `
mkdir "$1/started" 2>/dev/null || exit 0
echo $$ > "$1/pid.new" && mv "$1/pid.new" "$1/pid"
trap : TERM INT HUP
sh -c "$0" < "$1/input.json" > "$1/out" 2>> "$1/err"
echo $? > "$1/exit.new" && mv "$1/exit.new" "$1/exit"
`;

/** Runs the command to its end, or continues to watch it. */
export async function runOnce(request: RunRequest): Promise<RunEnd> {
  const { folder } = request;
  await mkdir(join(folder, 'artifacts'), { recursive: true, mode: 0o700 });
  const woken = new Wakening();
  if (!(await exists(join(folder, 'started')))) {
    await writeFile(join(folder, 'input.json'), request.input, { mode: 0o600 });
    start(request, woken);
  }
  return watch(request, woken);
}

function start({ command, folder, env }: RunRequest, woken: Wakening): void {
  const child = spawn('/bin/sh', ['-c', KEEPER, command, folder], {
    stdio: 'ignore',
    detached: true,
    env: { ...env, LANTERN_ARTIFACTS: join(folder, 'artifacts') },
  });
  child.once('exit', () => woken.wake());
  child.once('error', () => woken.wake());
}

async function watch(request: RunRequest, woken: Wakening): Promise<RunEnd> {
  const { folder, signal, onLine } = request;
  const lines = onLine === undefined ? null : new Lines(join(folder, 'out'), onLine);
  const wake = () => woken.wake();
  signal.addEventListener('abort', wake, { once: true });
  for (;;) {
    // Checked before the output is read: whatever was written until then is all there is.
    const exit = await exitOf(folder);
    await lines?.read();
    await trimStderr(folder);
    if (exit !== null) return { kind: 'exited', code: exit };
    const stop = await reasonToStop(request);
    if (stop !== null) {
      await stopGroup(folder, request.graceMs);
      return { kind: stop };
    }
    if (!(await isAlive(folder)) && (await exitOf(folder)) === null) return { kind: 'vanished' };
    await woken.within(LOOK_MS);
  }
}

async function reasonToStop({
  folder,
  signal,
  timeoutMs,
}: RunRequest): Promise<'cancelled' | 'timed_out' | 'too_much' | null> {
  if (signal.aborted) return 'cancelled';
  const started = await stat(join(folder, 'started')).catch(() => null);
  if (timeoutMs !== null && started !== null && Date.now() - started.mtimeMs > timeoutMs) return 'timed_out';
  const size = (await stat(join(folder, 'out')).catch(() => null))?.size ?? 0;
  return size > OUTPUT_MOST ? 'too_much' : null;
}

async function exitOf(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, 'exit'), 'utf8').catch(() => null);
  return text === null ? null : Number(text);
}

async function pidOf(folder: string): Promise<number | null> {
  const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => null);
  return text === null ? null : Number(text);
}

const GETTING_READY_MS = 30_000;

/** Whether the process is still there that will record how it ended. */
async function isAlive(folder: string): Promise<boolean> {
  const pid = await pidOf(folder);
  if (pid === null) {
    // Between `started` and `pid` there are milliseconds, unless the machine went down right there.
    const made = await stat(folder);
    return Date.now() - made.birthtimeMs < GETTING_READY_MS;
  }
  return (await isRunning({ pid, started: null })) && (await isOurs(pid, folder));
}

/**
 * Not a later process with the same number: ours was called with this folder. Where that cannot be read, the number
 * must do.
 */
async function isOurs(pid: number, folder: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return line === null || line.split('\0').includes(folder);
}

/** Asks the command and everything it has started to end, and kills it after a while. */
async function stopGroup(folder: string, graceMs: number): Promise<void> {
  const pid = await pidOf(folder);
  if (pid === null || !(await isAlive(folder))) return;
  signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + graceMs;
  while (signalGroup(pid, 0) && Date.now() < deadline) await pause(50);
  signalGroup(pid, 'SIGKILL');
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** What the command wrote, to be read once it has ended. */
export async function outputOf(folder: string): Promise<string> {
  return readFile(join(folder, 'out'), 'utf8').catch(() => '');
}

const A_DAY_MS = 86_400_000;

/** Removes what killed connectors left behind, of turns that are long over. */
export async function sweepRuns(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const run = join(folder, name);
    const exit = await stat(join(run, 'exit')).catch(() => null);
    if (exit !== null && Date.now() - exit.mtimeMs > A_DAY_MS)
      await rm(run, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A signal to wait for that may already have been given. */
class Wakening {
  #isAwake = false;
  #wake: () => void = () => undefined;

  wake(): void {
    this.#isAwake = true;
    this.#wake();
  }

  async within(ms: number): Promise<void> {
    if (!this.#isAwake) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#isAwake = false;
  }
}

/** The lines of a file that is still being written. */
class Lines {
  readonly #file: string;
  readonly #onLine: (line: string, number: number) => Promise<void>;
  readonly #decoder = new TextDecoder();
  #at = 0;
  #number = 0;
  #rest = '';

  constructor(file: string, onLine: (line: string, number: number) => Promise<void>) {
    this.#file = file;
    this.#onLine = onLine;
  }

  async read(): Promise<void> {
    const handle = await open(this.#file, 'r').catch(() => null);
    if (handle === null) return;
    try {
      for (;;) {
        const buffer = Buffer.alloc(64 * 1024);
        const { bytesRead } = await handle.read({ buffer, position: this.#at });
        if (bytesRead === 0) return;
        this.#at += bytesRead;
        await this.#take(this.#decoder.decode(buffer.subarray(0, bytesRead), { stream: true }));
      }
    } finally {
      await handle.close();
    }
  }

  async #take(text: string): Promise<void> {
    // Only what is new is looked through: a long line comes in a thousand pieces.
    const [first = '', ...others] = text.split('\n');
    const lines = [this.#rest + first, ...others];
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#number += 1;
      await this.#onLine(line, this.#number);
    }
  }
}
