import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInbox, type Inbox } from '@lanternroom/sdk/akep';
import { createWake, fileLog, memoryLog, systemClock, type Wake } from '@lanternroom/sdk/wake';
import { UsageError, type World } from './world.ts';

export interface WakeFlags {
  readonly agentId?: string;
  readonly provider?: string;
}

export interface Opened {
  readonly wake: Wake;
  /** False when LANTERN_LOG is off: then nobody here remembers which deliveries are ours. */
  readonly hasLog: boolean;
}

// Where `npm start` listens.
const DEFAULT_URL = 'http://127.0.0.1:8787';
// Shorter pauses are retries that nobody needs to hear of.
const NOTICED_PAUSE_MS = 5_000;

/** The client that flags and environment describe. */
export function openWake(world: World, flags: WakeFlags = {}): Opened {
  const { setting, ...shared } = readSettings(world);
  const wake = createWake({
    ...shared,
    agentId: flags.agentId ?? setting('WAKE_AGENT_ID'),
    provider: flags.provider ?? setting('WAKE_PROVIDER'),
  });
  return { wake, hasLog: setting('LANTERN_LOG') !== 'off' };
}

/** The inbox of the agent, read from where this machine stopped. */
export function openInbox(world: World, flags: { readonly cursorFile?: string }): Inbox {
  const { setting, ...shared } = readSettings(world);
  return createInbox({
    ...shared,
    cursor: flags.cursorFile ?? cursorFile(setting('HOME') ?? homedir(), shared),
    onCursorExpired: () =>
      world.err('Some events were dropped on the server before they were read here; going on behind them.\n'),
  });
}

/** The environment is read here and nowhere else. */
function readSettings(world: World) {
  const setting = (name: string) => world.env[name]?.trim() || undefined;
  const apiKey = setting('WAKE_API_KEY');
  if (apiKey === undefined) {
    throw new UsageError(
      'Set WAKE_API_KEY to the key of your agent; "lanternroom agent add NAME" makes one.',
    );
  }
  const logPath = setting('LANTERN_LOG');
  return {
    setting,
    url: setting('LANTERN_URL') ?? setting('WAKE_ENDPOINT') ?? DEFAULT_URL,
    apiKey,
    clock: noticed(world),
    log: logPath === 'off' ? memoryLog() : fileLog(logPath),
  };
}

/** One for each agent and server, so that no two share a place; the name does not give the key away. */
function cursorFile(home: string, { url, apiKey }: { url: string; apiKey: string }): string {
  const name = createHash('sha256').update(`${url}\n${apiKey}`).digest('hex').slice(0, 16);
  return join(home, '.lantern', 'cursors', `${name}.json`);
}

/** A clock that says so when somebody is made to wait. */
function noticed(world: World) {
  const clock = world.clock ?? systemClock;
  return {
    now: () => clock.now(),
    sleep: (ms: number, signal?: AbortSignal) => {
      if (ms >= NOTICED_PAUSE_MS) world.err(`Waiting ${Math.round(ms / 1_000)} s, then trying again.\n`);
      return clock.sleep(ms, signal);
    },
  };
}
