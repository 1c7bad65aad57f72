import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { memoryOf } from '../cost.mjs';
import { drive, inRounds, spread } from '../rounds.mjs';
import {
  AGENT,
  answerOf,
  end,
  KEY,
  newStore,
  remove,
  startLanternroom,
  startLeastA2a,
  temporaryFolder,
} from '../servers.mjs';
import { artifactMemory } from './a2a-artifact.mjs';

const here = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const CONNECTIONS = 64;
const KIB = 1024;
const REST_MS = 1_500;
const OURS = `/@home/${AGENT}/`;
const SDK = 'official SDK 1.3, in memory';
const LEAST = 'the least that stores such rows';

/** A2A: on disk, through a connected agent, against the official SDK that keeps everything in memory. */
export const b7 = {
  name: 'B7',
  async run(options) {
    const flows = await measureFlows(options);
    const chunks = await measureChunks(options);
    const artifact = await measureArtifact(options);
    const idle = await measureIdle(options);
    return [...flows, chunks, artifact, idle];
  },
};

async function measureFlows({ rounds, times }) {
  const folder = await newStore();
  const ours = await startLanternroom(folder);
  const theirs = await startForked('baselines/a2a-sdk.mjs');
  const least = await leastA2a();
  const tasks = { ours: await firstTask(ours, OURS), theirs: await firstTask(theirs, '/') };
  const agents = [];
  try {
    const stored = await inRounds(rounds, {
      theirs: () => pass(theirs, sendJob('/', 'store', times)),
      least: () => pass(least, sendJob('/', 'store', times, true)),
      ours: () => pass(ours, sendJob(OURS, 'store', times, true)),
    });
    const read = await inRounds(rounds, {
      theirs: () => pass(theirs, getJob('/', tasks.theirs, times)),
      ours: () => pass(ours, getJob(OURS, tasks.ours, times)),
    });
    agents.push(await startAgent(ours), await startAgent(least));
    await untilEmpty(ours);
    const completed = await inRounds(rounds, {
      theirs: () => pass(theirs, sendJob('/', 'complete', times)),
      least: () => pass(least, sendJob('/', 'complete', times)),
      ours: () => pass(ours, sendJob(OURS, 'complete', times)),
    });
    await mustComplete(ours, OURS);
    await mustComplete(least, '/');
    return [
      ...toResults('send, stored and answered at once', stored, 4),
      ...toResults('send, through a connected agent, to completed', completed, 1.5),
      toResult('get task', read.ours, SDK, read.theirs, { least: 4 }),
    ];
  } finally {
    for (const agent of agents) agent.kill();
    await Promise.all([ours.stop(), theirs.stop(), least.stop()]);
    for (const one of [folder, least.folder]) remove(one);
  }
}

/** Against the SDK, and with the least that does the same between us. */
function toResults(what, { ours, theirs, least }, goal) {
  return [
    toResult(what, ours, SDK, theirs, { least: goal }),
    toResult(`the least: ${what}`, least, SDK, theirs),
    toResult(what, ours, LEAST, least),
  ];
}

function toResult(what, own, against, others, goal) {
  const rate = (results) => spread(results.map(({ perSecond }) => perSecond));
  return {
    what,
    unit: '/s',
    ours: rate(own),
    against,
    baseline: rate(others),
    ratio: spread(own.map(({ perSecond }, i) => perSecond / others[i].perSecond)),
    goal,
    notes: { p50Ms: spread(own.map((r) => r.p50)).median, p99Ms: spread(own.map((r) => r.p99)).median },
    raw: { baseline: others, ours: own },
  };
}

/** In a store of its own, in which a message of ours waits for its agent: a pattern for others. */
async function leastA2a() {
  const folder = await newStore();
  const server = await startLanternroom(folder);
  await sendText(server, OURS, 'store', { returnImmediately: true });
  await server.stop();
  return startLeastA2a(folder);
}

/** Unlike elsewhere, the server is not paused between its turns: its agent would take it for dead and leave. */
async function pass(server, job) {
  const result = await drive(server, job);
  process.kill(server.pid, 'SIGCONT');
  return result;
}

const HEADERS = { 'a2a-version': '1.0', authorization: `Bearer ${KEY}` };

function sendJob(path, text, times, returnImmediately = false) {
  // The load writes its process and a number over these, so that no two messages are the same.
  const message = { messageId: '@pid@-000000000000', role: 'ROLE_USER', parts: [{ text }] };
  const params = { message, configuration: { returnImmediately } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  return {
    method: 'POST',
    path,
    bodies: [body],
    counted: true,
    headers: HEADERS,
    connections: CONNECTIONS,
    ...times,
  };
}

function getJob(path, id, times) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
  return { method: 'POST', path, bodies: [body], headers: HEADERS, connections: CONNECTIONS, ...times };
}

async function call({ port }, path, method, params) {
  const { body } = await request(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headersTimeout: 120_000,
  });
  const answer = await body.json();
  if (answer.error !== undefined) throw new Error(`${method} was refused: ${JSON.stringify(answer.error)}`);
  return answer.result;
}

function sendText(server, path, text, configuration = {}) {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  return call(server, path, 'SendMessage', { message, configuration });
}

async function firstTask(server, path) {
  return (await sendText(server, path, 'complete')).task.id;
}

async function mustComplete(server, path) {
  const { task } = await sendText(server, path, 'complete');
  if (task.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`the task is ${task.status.state}`);
}

/** On a slow disk a send may be answered before the work is done, so the task is polled. */
async function untilCompleted(server, path, text) {
  let { task } = await sendText(server, path, text);
  while (task.status.state !== 'TASK_STATE_COMPLETED') {
    if (task.status.state === 'TASK_STATE_FAILED') throw new Error(JSON.stringify(task.status));
    await rest();
    task = await call(server, path, 'GetTask', { id: task.id });
  }
  return task;
}

/** What was stored for nobody is now the agent's; only then is a send answered without a queue before it. */
async function untilEmpty(server) {
  for (let quick = 0; quick < 3; ) {
    const started = performance.now();
    await sendText(server, OURS, 'complete');
    quick = performance.now() - started < 100 ? quick + 1 : 0;
  }
}

async function startForked(name) {
  const child = fork(here(name), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = await once(child, 'message');
  return { name, port, pid: child.pid, child, stop: () => end(child) };
}

async function startAgent({ port }) {
  const child = fork(here('load/a2a-agent.mjs'), [
    JSON.stringify({ url: `http://127.0.0.1:${port}`, key: KEY }),
  ]);
  await once(child, 'message');
  return child;
}

/** Twice as many chunks must not cost much more than twice as much. */
async function measureChunks({ rounds, quick }) {
  const [few, many] = quick ? [500, 1_000] : [1_000, 2_000];
  const folder = await newStore();
  const server = await startLanternroom(folder);
  const agent = await startAgent(server);
  try {
    await timeChunks(server, few);
    const results = await inRounds(rounds, {
      few: () => timeChunks(server, few),
      many: () => timeChunks(server, many),
    });
    return {
      what: `${many} chunks of 1 KB to an artifact`,
      unit: 'ms',
      ours: spread(results.many),
      against: `${few} chunks`,
      baseline: spread(results.few),
      ratio: spread(results.many.map((ms, i) => ms / results.few[i])),
      goal: { most: 2.5 },
    };
  } finally {
    agent.kill();
    await server.stop();
    remove(folder);
  }
}

async function timeChunks(server, count) {
  const started = performance.now();
  const { task } = await sendText(server, OURS, `chunks ${count}`);
  if (task.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`the task is ${task.status.state}`);
  return performance.now() - started;
}

async function measureArtifact({ rounds, quick }) {
  const folder = await newStore();
  const server = await startLanternroom(folder);
  const agent = await startAgent(server);
  try {
    const completed = (words) => untilCompleted(server, OURS, words);
    return await artifactMemory({ server, rounds, quick, caller: { completed, headers: HEADERS } });
  } finally {
    agent.kill();
    await server.stop();
    remove(folder);
  }
}

/** What one more agent that is connected and idle costs. */
async function measureIdle({ rounds, quick }) {
  const count = quick ? 2_000 : 10_000;
  const folder = temporaryFolder();
  const keys = await seedAgents(folder, count);
  const [bare, ours] = [[], []];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const plain = await startForked('baselines/bare-ws.mjs');
    bare.push(await memoryEach(plain, { url: `ws://127.0.0.1:${plain.port}/`, protocol: [], keys }));
    await plain.stop();
    const server = await startLanternroom(folder);
    const url = `ws://127.0.0.1:${server.port}/a2a/connect`;
    ours.push(await memoryEach(server, { url, protocol: 'lantern.v1', keys }));
    await server.stop();
  }
  remove(folder);
  return {
    what: `${count.toLocaleString('en')} connected idle agents, memory each`,
    unit: 'KiB',
    ours: spread(ours.map((bytes) => bytes / KIB)),
    against: 'bare ws',
    baseline: spread(bare.map((bytes) => bytes / KIB)),
    ratio: spread(ours.map((bytes, i) => bytes / bare[i])),
    goal: { most: 1.5 },
  };
}

async function seedAgents(folder, count) {
  const child = fork(here('stores/seed-agents.mjs'), [JSON.stringify({ folder, count })]);
  const { keys } = await answerOf(child, 'making the agents');
  return keys;
}

/** A first small crowd warms the server up, so that what is counted is what one more agent costs. */
async function memoryEach(server, { url, protocol, keys }) {
  const warm = Math.floor(keys.length / 20);
  const crowds = [await openCrowd({ url, protocol, keys: keys.slice(0, warm) })];
  await rest();
  const before = memoryOf(server.pid);
  crowds.push(await openCrowd({ url, protocol, keys: keys.slice(warm) }));
  await rest();
  const bytes = (memoryOf(server.pid) - before) / (keys.length - warm);
  for (const child of crowds) child.kill('SIGKILL');
  return bytes;
}

async function openCrowd(job) {
  const child = fork(here('load/a2a-idle.mjs'));
  child.send(job);
  await once(child, 'message');
  return child;
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
