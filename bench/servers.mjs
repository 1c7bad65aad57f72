import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** Another build can be measured instead: that of an earlier commit, to compare with. */
export const PACKAGE = process.env.BENCH_SERVER ?? here('../packages/server');
const READY_WITHIN_MS = 60_000;

export const AGENT = 'bench-agent';
export const KEY = `wk_test_${'Bench0'.repeat(6)}`;
/** The person of every store that the bench fills. */
export const OWNER = { email: 'owner@example.com', password: 'a password of the bench' };
/** The most that the setting takes: the bench measures the path of a delivery, not its limit. */
const NO_LIMIT = '999999999/999999999';

/** What the bench sets, here and where it fills a store. */
export const SETTINGS = {
  LANTERNROOM_RATE_TEST: NO_LIMIT,
  LANTERNROOM_UNDO_SECONDS: '0',
  LANTERNROOM_INIT_AGENT: AGENT,
  LANTERNROOM_INIT_AGENT_KEY: KEY,
};

const folders = [];
process.on('exit', () => folders.forEach(remove));

/** Beside the bench and not in the system's temporary folder, which may be in memory, where fsync is free. */
export function temporaryFolder(beginning = here('./results/data-')) {
  const folder = mkdtempSync(beginning);
  folders.push(folder);
  return folder;
}

/** A file system in memory, where the system has one. */
const IN_MEMORY = '/dev/shm';

/** Where a sync costs nothing; null where there is no such place. */
export function folderInMemory() {
  return existsSync(IN_MEMORY) ? temporaryFolder(join(IN_MEMORY, 'lanternroom-bench-')) : null;
}

/** Fills a data folder in a process of its own and returns `{ since, token, waiting }`. */
export async function fill(folder, wanted) {
  const child = fork(here('./stores/seed.mjs'), [JSON.stringify({ folder, ...wanted })]);
  return answerOf(child, 'filling the store');
}

/**
 * The one message of a bench process. Its exit does not end the waiting, because that may be noticed before its last
 * message.
 */
export async function answerOf(child, what) {
  const ended = once(child, 'disconnect').then(() => {
    throw new Error(`${what} failed; see above`);
  });
  const [message] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {});
  return message;
}

export const remove = (folder) => rmSync(folder, { recursive: true, force: true });

/** A store in which a person has met the agent: the normal state after the first day. */
export async function newStore() {
  const folder = temporaryFolder();
  await fill(folder, { total: 1, fresh: 1 });
  return folder;
}

/** `node:http` alone. */
export async function startBare() {
  const child = fork(here('./baselines/bare.mjs'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = await once(child, 'message');
  return { name: 'node:http', port, pid: child.pid, stop: () => end(child) };
}

/** The least that syncs as much as an event and wakes whoever waits: see `least/wake.mjs`. */
export async function startLeastWake() {
  const folder = temporaryFolder();
  const child = fork(here('./least/wake.mjs'), [folder]);
  const { port } = await answerOf(child, 'the least that wakes');
  return { port, pid: child.pid, folder, stop: () => end(child) };
}

/** The least that stores such rows, in a store that holds one of them: see `least/intake.mjs`. */
export function startLeast(folder, { under, ...options }) {
  const file = join(folder, 'data/lanternroom.db');
  return startLeastProgram('intake.mjs', folder, { writer: './intake-sqlite.mjs', file, ...options }, under);
}

/** The same on PostgreSQL, in a database that holds one of them. */
export function startLeastOnPostgres(folder, url, tables) {
  const options = { writer: './intake-postgres.mjs', url, tables, driver: PACKAGE };
  return startLeastProgram('intake.mjs', folder, options);
}

/** The least that takes messages for an agent, in a store in which one waits: see `least/a2a.mjs`. */
export function startLeastA2a(folder) {
  return startLeastProgram('a2a.mjs', folder, { file: join(folder, 'data/lanternroom.db') });
}

async function startLeastProgram(name, folder, options, under = []) {
  const [execPath, ...execArgv] = [...under, process.execPath];
  const child = fork(here(`./least/${name}`), [JSON.stringify(options)], { execPath, execArgv });
  const { port } = await answerOf(child, name);
  return { name, port, pid: child.pid, folder, stop: () => end(child, 'SIGKILL') }; // it has nothing to lose
}

/** The built server as its users start it, with its own settings but for the rates. */
export async function startLanternroom(folder, options = {}) {
  const port = await freePort();
  const started = performance.now();
  const program = join(options.package ?? PACKAGE, 'bin/lanternroom.js');
  const [command, ...args] = [
    ...(options.under ?? []),
    process.execPath,
    ...(options.node ?? []),
    program,
    'serve',
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...cleanEnvironment(), ...settings(folder, port), ...options.env },
  });
  await untilReady(port, child);
  const readyMs = performance.now() - started;
  endWith(child);
  return { name: 'lanternroom', port, pid: child.pid, readyMs, stop: () => end(child) };
}

function settings(folder, port) {
  return { ...SETTINGS, LANTERNROOM_PORT: String(port), LANTERNROOM_DATA: join(folder, 'data') };
}

function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^LANTERNROOM_|^DATABASE_URL$/.test(name)),
  );
}

async function untilReady(port, child) {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}; see above`);
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the server was not ready within ${READY_WITHIN_MS / 1000} s`);
}

async function answers(port) {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`);
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}

/** Servers that were told to go. */
const dismissed = new WeakSet();

/**
 * A server that ends by itself ends the bench: a client would wait for its answers for ever, or the load would be
 * blamed.
 */
function endWith(server) {
  server.once('exit', (code, signal) => {
    if (dismissed.has(server)) return;
    console.error(`The server ended by itself (${signal ?? `code ${code}`}); see above.`);
    process.exit(1);
  });
}

export async function end(child, signal = 'SIGTERM') {
  dismissed.add(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill(signal);
  await exited;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
