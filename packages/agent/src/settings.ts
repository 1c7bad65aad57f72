import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { createWake, fileLog, memoryLog, systemClock, type Wake } from '@lanternroom/sdk/wake';
import { homeOf } from './home.ts';
import { readLogin } from './login-file.ts';
import { UsageError, type World } from './world.ts';

export interface WakeFlags {
  readonly agentId?: string;
  readonly provider?: string;
}

export interface Opened {
  readonly wake: Wake;
  /** False when LANTERN_LOG is off: then nothing here remembers which deliveries are ours. */
  readonly hasLog: boolean;
}

// Where `npm start` listens.
const DEFAULT_URL = 'http://127.0.0.1:8787';
// Shorter pauses are retries that nobody needs to hear about.
const NOTICED_PAUSE_MS = 5_000;

/** The client that flags and environment describe. */
export function openWake(world: World, flags: WakeFlags = {}): Opened {
  const { setting, ...shared } = readSettings(world);
  const wake = createWake({
    ...shared,
    agentId: flags.agentId ?? shared.agentId,
    provider: flags.provider ?? setting('WAKE_PROVIDER'),
  });
  return { wake, hasLog: setting('LANTERN_LOG') !== 'off' };
}

/** Where to connect as the agent, and where to remember what was taken and run. */
export function openConnection(world: World, flags: { readonly state?: string }) {
  const { url, apiKey } = readSettings(world);
  const state = flags.state ?? join(homeOf(world.env), '.lantern', 'connect', nameOf(url, apiKey));
  return { url, apiKey, state: resolve(state) };
}

/** The environment is read here and nowhere else. It wins over what `lantern login` has stored. */
export function readSettings(world: World) {
  const setting = (name: string) => world.env[name]?.trim() || undefined;
  return {
    setting,
    ...readAccess(world),
    clock: noticed(world),
    log: openLog(world).log,
  };
}

export function openLog({ env }: Pick<World, 'env'>) {
  const path = env.LANTERN_LOG?.trim() || undefined;
  const isOff = path === 'off';
  return { log: isOff ? memoryLog() : fileLog(path), isOff };
}

export interface Access {
  readonly url: string;
  readonly apiKey: string;
  readonly agentId: string | undefined;
}

/** The server's address and the key for it. A stored key is sent to its own server only. */
export function readAccess(world: Pick<World, 'env'>): Access {
  const setting = (name: string) => world.env[name]?.trim() || undefined;
  const apiKey = setting('WAKE_API_KEY');
  const given = setting('LANTERN_URL') ?? setting('WAKE_ENDPOINT');
  const agentId = setting('WAKE_AGENT_ID');
  if (apiKey !== undefined && given !== undefined) return { url: given, apiKey, agentId };
  const login = readLogin(world);
  const url = given ?? login?.url ?? DEFAULT_URL;
  if (apiKey !== undefined) return { url, apiKey, agentId };
  if (login === null) {
    throw new UsageError(
      'Set WAKE_API_KEY to the key of your agent, or run "lantern login"; "lanternroom agent add NAME" makes a key.',
    );
  }
  if (url !== login.url) {
    throw new UsageError(
      `The key of "lantern login" is for ${login.url}, not for ${url}: set WAKE_API_KEY too, or log in there.`,
    );
  }
  return { url, apiKey: login.apiKey, agentId: agentId ?? login.agentId };
}

/** One name per agent and server, so that no two share a file; it does not reveal the key. */
export function nameOf(url: string, apiKey: string): string {
  return createHash('sha256').update(`${url}\n${apiKey}`).digest('hex').slice(0, 16);
}

/** A clock that reports long pauses. */
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
