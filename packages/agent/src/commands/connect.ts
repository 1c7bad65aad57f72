import { type AgentTask, connect as connectTo, faultOf, type LinkTrouble } from '@lanternroom/sdk/a2a';
import { shown } from '../answers.ts';
import { openConnection } from '../settings.ts';
import { type CommandSettings, handToCommand } from '../turns/hand.ts';
import { sweepRuns } from '../turns/run.ts';
import { EXIT, UsageError, type World } from '../world.ts';

export interface ConnectFlags {
  readonly exec: string;
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly grace?: number;
  readonly progress?: boolean;
  readonly once?: boolean;
  readonly state?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_GRACE_SECONDS = 10;
/** The hub sends what waits right after its greeting: after this long without anything, there is nothing more. */
const ONCE_QUIET_MS = 2_000;
/** If the greeting took long, so will everything after it: wait this many times as long, within reason. */
const ONCE_QUIET_GREETINGS = 10;
const ONCE_QUIET_MOST_MS = 30_000;

export async function connect(flags: ConnectFlags, world: World): Promise<number> {
  if (process.platform === 'win32') {
    throw new UsageError(
      'lantern connect runs its command in a POSIX shell: use it in WSL, or use connect() of the SDK.',
    );
  }
  const { url, apiKey, state } = openConnection(world, flags);
  const say = flags.quiet ? () => undefined : world.out;
  const command: CommandSettings = {
    exec: flags.exec,
    runs: `${state}/runs`,
    env: world.env,
    timeoutMs: flags.timeout === undefined ? null : flags.timeout * 1_000,
    graceMs: (flags.grace ?? DEFAULT_GRACE_SECONDS) * 1_000,
    readsProgress: flags.progress === true,
  };
  await sweepRuns(command.runs);
  const tell = narrator(flags, world, url);
  const quiet = new Quiet();
  let triedAt = Date.now();
  const work = (task: AgentTask) => quiet.during(() => told(task, { command, say, flags, world }));
  const connection = connectTo({
    url,
    apiKey,
    state,
    clock: world.clock,
    concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
    onTask: work,
    // The same for work of an earlier connector: a command that was started is watched, not run again.
    onInterrupted: work,
    onConnected: (agent) => {
      tell.connected(agent);
      quiet.start(quietAfter(Date.now() - triedAt));
    },
    onTrouble: (trouble) => {
      triedAt = Date.now() + trouble.retryInMs;
      tell.trouble(trouble);
    },
    onError: tell.error,
    signal: world.stopSignal?.(),
  });
  if (flags.once) void quiet.lasting().then(() => connection.stop());
  return connection.closed.then(
    () => EXIT.done,
    (error: unknown) => {
      if (tell.hasSaid(error)) return EXIT.failed;
      throw error;
    },
  );
}

function quietAfter(greetingMs: number): number {
  return Math.min(ONCE_QUIET_MOST_MS, Math.max(ONCE_QUIET_MS, ONCE_QUIET_GREETINGS * greetingMs));
}

interface Telling {
  readonly command: CommandSettings;
  readonly say: (text: string) => void;
  readonly flags: ConnectFlags;
  readonly world: World;
}

/** Reports the beginning and the end of a task, one line each. */
async function told(task: AgentTask, { command, say, flags, world }: Telling): Promise<void> {
  const started = Date.now();
  say(`${task.id}  begins${task.kind === 'task' ? '' : ` (${task.kind})`}\n`);
  const ended = await handToCommand(task, command);
  const seconds = ((Date.now() - started) / 1_000).toFixed(1);
  say(`${task.id}  ${ended.state} after ${seconds} s${ended.why === '' ? '' : `: ${oneLine(ended.why)}`}\n`);
  if (flags.verbose && ended.stderr !== '') world.err(`${shown(ended.stderr)}\n`);
}

/** Reports what happens to the connection, and nothing twice: an outage is one sentence, not one every 15 s. */
function narrator(flags: ConnectFlags, world: World, url: string) {
  let isOut = false;
  let last: unknown = null;
  return {
    hasSaid: (error: unknown) => error === last,
    connected: (agent: string) => {
      if (!flags.quiet) world.out(`Connected to ${url} as ${agent}. Waiting for tasks; Ctrl-C ends.\n`);
      isOut = false;
    },
    trouble: ({ error, retryInMs }: LinkTrouble) => {
      if (!isOut) world.err(`${oneLine(error.message)} Trying again until it works.\n`);
      else if (flags.verbose)
        world.err(`${oneLine(error.message)} Next try in ${(retryInMs / 1_000).toFixed(1)} s.\n`);
      isOut = true;
    },
    error: (error: unknown, task: AgentTask | null) => {
      // What ends the connection is reported once, at the end.
      const fault = task === null ? faultOf(error) : null;
      if (fault === 'unauthorized' || fault === 'forbidden' || fault === 'wrong_usage') return;
      last = error;
      const text = error instanceof Error ? error.message : String(error);
      world.err(`${task === null ? '' : `${task.id}  `}${oneLine(text)}\n`);
    },
  };
}

function oneLine(text: string): string {
  return shown(text).replaceAll(/\s+/g, ' ').trim();
}

/** Whether anything is going on, for `--once`. */
class Quiet {
  #running = 0;
  #since = Number.POSITIVE_INFINITY;
  #longEnough = 0;

  start(longEnough: number): void {
    this.#longEnough = longEnough;
    this.#since = Date.now();
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#since = Date.now();
    }
  }

  async lasting(): Promise<void> {
    while (this.#running > 0 || Date.now() - this.#since < this.#longEnough) {
      await new Promise((resolve) => setTimeout(resolve, 100).unref());
    }
  }
}
