import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { request } from 'undici';
import { ingestJob, SECRET } from '../requests/akep.mjs';
import { events } from '../requests/signed.mjs';
import { drive } from '../rounds.mjs';
import { end, freePort, remove, temporaryFolder } from '../servers.mjs';

/**
 * AKEP's published reference receivers, as measured once on a machine like this: what we are compared with where
 * their repository is not available.
 */
const PUBLISHED = {
  python: { perSecond: 580, p99: 1750 },
  node: { perSecond: 260 },
  nodeAt10000: { perSecond: 25 },
  lookupMs: 274,
  waitMs: 523,
};

/** Their repository: named by the environment, or beside ours. */
const REPOSITORY = process.env.AKEP_REPO ?? fileURLToPath(new URL('../../../akep', import.meta.url));
const PYTHON = join(REPOSITORY, 'examples/python/receiver.py');
const NODE = join(REPOSITORY, 'examples/node/receiver.mjs');

const hasPython = existsSync(PYTHON);
const hasNode = existsSync(join(REPOSITORY, 'examples/node/node_modules/express'));

/** Says where the figures of the reference come from. */
export const called = (name, isHere) => (isHere ? `${name}, here` : name);
export const PYTHON_NAME = called("AKEP's Python receiver", hasPython);
export const NODE_NAME = called("AKEP's Node example", hasNode);

/** One round of each of them, on a fresh inbox; what is not here has the published figures in every round. */
export function referenceRounds(times) {
  return {
    python: () => (hasPython ? ingestRound(startPython, times) : PUBLISHED.python),
    node: () => (hasNode ? ingestRound(startNode, times) : PUBLISHED.node),
    nodeAt10000: () => (hasNode ? ingestRound(nodeWith10000, times) : PUBLISHED.nodeAt10000),
  };
}

async function ingestRound(start, times) {
  const receiver = await start();
  try {
    // Under load they close the connection after each answer, or fail some requests: only their answers count.
    return await drive(receiver, ingestJob(times, { reconnects: true }));
  } finally {
    await receiver.stop();
  }
}

/** The median of looking up a task among so many events. */
export async function referenceLookup(total, lookups) {
  if (!hasPython) return PUBLISHED.lookupMs;
  return withPython(total, async ({ port }) => {
    const took = [];
    for (let n = 0; n < lookups; n++) {
      const before = performance.now();
      const { body } = await request(`http://127.0.0.1:${port}/akep/tasks/task-${n % 256}`);
      await body.json();
      took.push(performance.now() - before);
    }
    return took.sort((a, b) => a - b)[lookups >> 1];
  });
}

/** The median from sending an event to answering the one who waits. `wake` is the row's own way of timing that. */
export async function referenceWait(samples, wake) {
  if (!hasPython) return PUBLISHED.waitMs;
  return withPython(0, async (receiver) => {
    const took = [];
    for (let n = 0; n < samples; n++) took.push(await wake(receiver, n));
    return took.sort((a, b) => a - b)[samples >> 1];
  });
}

async function withPython(total, work) {
  const receiver = await startPython();
  try {
    fill(join(receiver.folder, 'inbox.db'), total);
    return await work(receiver);
  } finally {
    await receiver.stop();
  }
}

/** Writes their table directly: through their door it would take minutes. */
function fill(file, total) {
  const db = new DatabaseSync(file);
  const insert = db.prepare(
    'insert into events (event_id, event_type, source_name, received_at, raw_json) values (?, ?, ?, ?, ?)',
  );
  const samples = events(256);
  db.exec('begin');
  for (let n = 0; n < total; n++) {
    const event = { ...samples[n % samples.length], event_id: `evt_seed_${n}_padding` };
    insert.run(event.event_id, event.event_type, event.source.name, 1_700_000_000, JSON.stringify(event));
  }
  db.exec('commit');
  db.close();
}

const startPython = () => start('python3', PYTHON, (folder) => ({ AKEP_INBOX_DB: join(folder, 'inbox.db') }));
const startNode = () => start(process.execPath, NODE, inboxIn);

function nodeWith10000() {
  return start(process.execPath, NODE, (folder) => {
    const samples = events(256);
    const lines = Array.from({ length: 10_000 }, (_, n) =>
      JSON.stringify({ ...samples[n % samples.length], event_id: `evt_seed_${n}_padding` }),
    );
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'inbox.jsonl'), `${lines.join('\n')}\n`);
    return inboxIn(folder);
  });
}

function inboxIn(folder) {
  return { AKEP_INBOX_JSONL: join(folder, 'inbox.jsonl') };
}

async function start(command, program, settings) {
  const folder = temporaryFolder();
  const port = await freePort();
  const own = {
    AKEP_PORT: String(port),
    AKEP_WEBHOOK_SECRET: SECRET,
    AKEP_SUBSCRIPTION_PATH: join(folder, 'none'),
    ...settings(folder),
  };
  const child = spawn(command, [program], { cwd: folder, stdio: 'ignore', env: { ...process.env, ...own } });
  for (let tries = 0; tries < 500 && !(await answers(port)); tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const stop = async () => {
    await end(child, 'SIGKILL'); // it may stand still, and has nothing to lose
    remove(folder);
  };
  return { name: program, port, pid: child.pid, folder, stop };
}

async function answers(port) {
  return request(`http://127.0.0.1:${port}/.well-known/akep.json`).then(
    async ({ body }) => {
      await body.dump();
      return true;
    },
    () => false,
  );
}
