import type { Command } from 'commander';
import { type Config, readConfig, UsageError } from '../config.ts';
import type { MadeAgent } from '../core/agents/found.ts';
import { foundHome, type NewHome, refuseHome } from '../core/agents/home.ts';
import { tierOf } from '../core/agents/key.ts';
import { keepEnvironmentProducer } from '../core/events/producers.ts';
import { type Fault, isFault } from '../core/faults.ts';
import { hasOwner, openSetup, type SetupLink } from '../core/people/membership/setup.ts';
import type { Room } from '../core/room.ts';
import { SECOND } from '../core/time.ts';
import type { Ground } from '../ground.ts';
import { isLoopbackHost } from '../http/entry/transport.ts';
import type { Running } from '../main.ts';
import type { FolderLock } from '../storage/folder/folder-lock.ts';
import { sparingly } from './start-memory.ts';
import { openGroundPatiently } from './wait-for-database.ts';
import { OPERATOR } from './with-ground.ts';

type ServeOptions = Record<string, string | undefined>;

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('the server')
    .option('--port <port>', 'the port to listen on (8787)')
    .option('--host <address>', 'the address to listen on (127.0.0.1)')
    .option('--data <dir>', 'database and generated secrets (./data)')
    .option('--handle <name>', 'handle of the first space')
    .option('--url <address>', 'the public base URL, when a proxy is in front')
    .option('--tls-cert <file>', 'certificate chain, PEM')
    .option('--tls-key <file>', 'private key, PEM')
    .option('--trust-proxy <addresses>', 'proxies whose X-Forwarded-* are believed, comma-separated')
    .option('--database-url <url>', 'postgres://… instead of SQLite')
    .exitOverride()
    .addHelpText(
      'after',
      '\nExamples:\n  lanternroom serve --port 8080\n  lanternroom serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const config = readConfig({ flags: toFlags(options), env: process.env });
  assertWholeInit(config);
  // Before anything is created: a master key left behind by a refused start would not match the one that is set next.
  const { assertAddress, assertCanListen, explainListen } = await import('./address.ts');
  assertAddress(config);
  const lock = await claimFolder(config);
  await assertCanListen(config).catch((reason: unknown) => {
    throw explainListen(reason, config);
  });
  const { running, first } = await sparingly(() => start(config));
  console.log(await greeting(running, first));
  const warning = wrongLinks(config, running.url);
  if (warning !== null) console.error(warning);
  await untilStopped(running);
  lock?.release();
}

/** Replicas share a PostgreSQL; a data folder has one server. */
async function claimFolder({ data, databaseUrl }: Config): Promise<FolderLock | null> {
  if (databaseUrl !== null) return null;
  const { lockFolder } = await import('../storage/folder/folder-lock.ts');
  return lockFolder(data);
}

async function start(config: Config): Promise<{ running: Running; first: MadeAgent | null }> {
  const { openGround, openLog, startServer } = await import('../main.ts');
  const warn = (message: string) => openLog(config.log).warn(message);
  const ground = await openGroundPatiently(config, () => openGround(config, undefined, warn));
  try {
    const first = await initialise(ground, config);
    await followEnvironment(ground, config);
    return { running: await startServer(config, ground), first };
  } catch (reason) {
    await ground.stop();
    const { explainListen } = await import('./address.ts');
    throw explainListen(reason, config);
  }
}

/** Commander speaks camelCase, the settings table speaks flags. */
function toFlags(options: ServeOptions): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`),
      value,
    ]),
  );
}

function assertWholeInit(config: Config): void {
  const { init, tlsCert, tlsKey } = config;
  if ((tlsCert === null) !== (tlsKey === null))
    throw new UsageError('TLS needs both --tls-cert and --tls-key.');
  if ((init.email === null) !== (init.password === null)) {
    throw new UsageError('A headless owner needs both LANTERNROOM_INIT_EMAIL and LANTERNROOM_INIT_PASSWORD.');
  }
  const refused = refuseHome(homeOf(config));
  if (refused !== null) throw wrongInit(refused);
}

/** Which setting a refusal is about. */
const INIT_SETTINGS: Record<string, string> = {
  handle: 'LANTERNROOM_INIT_HANDLE',
  email: 'LANTERNROOM_INIT_EMAIL',
  password: 'LANTERNROOM_INIT_PASSWORD',
  agent_id: 'LANTERNROOM_INIT_AGENT',
  key: 'LANTERNROOM_INIT_AGENT_KEY',
  callbacks: 'LANTERNROOM_INIT_CALLBACKS',
  callback_secret: 'LANTERNROOM_INIT_CALLBACK_SECRET',
};

function wrongInit({ message, detail }: Fault): UsageError {
  return new UsageError(`${INIT_SETTINGS[detail.field ?? ''] ?? 'INIT'}: ${message}`);
}

function homeOf({ init }: Config): NewHome {
  const { email, password } = init;
  return {
    handle: init.handle ?? 'home',
    agent: {
      id: init.agent ?? 'first-agent',
      tier: tierOf(init.agentKey ?? '') ?? 'test',
      callbacks: init.callbacks,
      ...(init.agentKey === null ? {} : { key: init.agentKey }),
      ...(init.callbackSecret === null ? {} : { callbackSecret: init.callbackSecret }),
    },
    owner: email === null || password === null ? null : { email, password },
  };
}

/** On an empty store only: the first space, agent and owner. A second start changes nothing. */
async function initialise({ room }: Ground, config: Config): Promise<MadeAgent | null> {
  if ((await room.store.directory.spaces()).length > 0) return null;
  const made = await foundHome(room, homeOf(config), OPERATOR).catch(async (reason: unknown) => {
    // Another replica may have founded it in the same moment; it did so with the same values.
    if ((await room.store.directory.spaces()).length > 0) return null;
    throw reason;
  });
  if (made === null) return null;
  if (isFault(made)) throw wrongInit(made);
  // A key that the operator brought is not shown again.
  return config.init.agentKey === null ? made : null;
}

/** AKEP_WEBHOOK_SECRET is read at every start: the test producer signs with what it says. */
async function followEnvironment({ room }: Ground, { webhookSecret }: Config): Promise<void> {
  const [space] = await room.store.directory.spaces();
  if (space === undefined) return;
  const keep = () => keepEnvironmentProducer(room, space.id, webhookSecret);
  // Once more: another replica may have made it in the same moment.
  await keep().catch(keep);
}

async function greeting({ url, ground: { room } }: Running, first: MadeAgent | null): Promise<string> {
  const lines = [`Lanternroom is at ${url}`];
  const spaces = await room.store.directory.spaces();
  const owned = await Promise.all(spaces.map((s) => hasOwner(room, s.id)));
  if (!owned.includes(true)) {
    lines.push('', ...(await setupLines(room, url)));
  }
  if (first !== null)
    lines.push('', 'Make a first delivery (the test key is shown only now):', curlLine(url, first));
  return `${lines.join('\n')}\n`;
}

/** Reached from other machines without knowing its public URL, the server can only write links with its local address. */
function wrongLinks({ url, host, trustProxy }: Config, known: string): string | null {
  if (url !== null || (trustProxy.length === 0 && isLoopbackHost(host))) return null;
  return `Links, cards and prompts will name ${known}, which others cannot open. Set LANTERNROOM_URL, or --url, to the address that people and agents use.`;
}

/** If the link cannot be stored, the server starts all the same and says so. */
async function setupLines(room: Room, url: string): Promise<string[]> {
  try {
    const link = await openSetup(room);
    return [`Set it up (${howLong(link)}):`, `  ${url}/setup#${link.token}`];
  } catch (reason) {
    if (!isFault(reason)) throw reason;
    return [`No setup link could be made. ${reason.message} Then start again for one.`];
  }
}

function howLong({ left, isShownBefore }: SetupLink): string {
  if (!isShownBefore) return 'this link works once, for a day';
  const minutes = Math.floor(left / (60 * SECOND));
  const rest = minutes >= 120 ? `${Math.floor(minutes / 60)} hours` : `${Math.max(minutes, 1)} min`;
  return `the link that was shown before works once, for another ${rest}`;
}

function curlLine(url: string, { agent, key }: MadeAgent): string {
  const body = JSON.stringify({
    agent_id: agent.id,
    provider: 'curl',
    type: 'question',
    headline: 'May I send the newsletter?',
    summary: 'The draft is ready and goes to 1200 readers.',
  });
  return `  curl ${url}/wake/v1/deliver -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}

const STOP_WITHIN_MS = 9_500;
const IMPATIENT_AFTER_MS = 1_000;

/** The first signal stops in good order, within ten seconds; a second one stops at once. */
function untilStopped(running: Running): Promise<void> {
  return new Promise((resolve, reject) => {
    let stoppingSince = 0;
    const stop = () => {
      // Ctrl-C reaches us twice at the same moment, from the terminal and from npm; only a later signal means
      // impatience.
      if (stoppingSince > 0)
        return void (performance.now() - stoppingSince > IMPATIENT_AFTER_MS && process.exit(1));
      stoppingSince = performance.now();
      // What is still open by then was told to reconnect; everything accepted is already on disk.
      setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
      running.stop().then(resolve, reject);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
