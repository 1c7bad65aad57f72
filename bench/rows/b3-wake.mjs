import { request } from 'undici';
import { PYTHON_NAME, referenceWait } from '../baselines/reference.mjs';
import { toBytes, Waking } from '../load/line.mjs';
import { AS_AGENT, endOf, sendEvent, signedEvent, startAkep, waitFor } from '../requests/akep.mjs';
import { decision } from '../requests/decisions.mjs';
import { inRounds, spread } from '../rounds.mjs';
import {
  fill,
  folderInMemory,
  remove,
  startLanternroom,
  startLeastWake,
  temporaryFolder,
} from '../servers.mjs';

const SAMPLES = 300;
/** After it stood still, a server first does what its clock had planned for that time; this measures the ones after that. */
const WARM_UP = 50;
/** Half a second each. */
const REFERENCE_SAMPLES = 40;

/** From the sending of an event, or of a person's decision, to the answer in the hands of whoever waited for it. */
export const b3 = {
  name: 'B3',
  async run({ rounds, say }) {
    const event = await events(rounds);
    const theirs = await referenceWait(REFERENCE_SAMPLES, wakeReference());
    const decided = await decisions(rounds);
    if (event.inMemory === undefined)
      say('no file system is in memory here, so a disk without cost is left out');
    return [
      ...toResults('event', event.ours, theirs),
      ...withoutDisk('event', event.inMemory),
      ...toResults('decision', decided.ours, theirs),
      ...withoutDisk('decision', decided.inMemory),
      ...limit(event.least),
    ];
  },
};

/** The same where a sync costs nothing: this separates our part of the slowest from the disk's. */
function withoutDisk(what, results) {
  if (results === undefined) return [];
  const p99 = spread(results.map((r) => r.p99));
  return [{ what: `${what}, the same where a sync costs nothing (p99)`, unit: 'ms', ours: p99 }];
}

function toResults(what, results, theirs) {
  const p50 = results.map((r) => r.p50);
  return [
    {
      what: `${what} to parked waiter (p50)`,
      unit: 'ms',
      ours: spread(p50),
      against: `${PYTHON_NAME}, /wait`,
      baseline: spread([theirs]),
      ratio: spread(p50.map((ms) => theirs / ms)),
      goal: { least: 200 },
    },
    {
      what: `${what} to parked waiter (p99)`,
      unit: 'ms',
      ours: spread(results.map((r) => r.p99)),
      goal: { most: 5 },
    },
  ];
}

/** What disk and processor need by themselves; it has no goal, but the goals are to be compared with it. */
function limit(results) {
  const what = 'the least that syncs and wakes';
  return [
    { what: `${what} (p50)`, unit: 'ms', ours: spread(results.map((r) => r.p50)) },
    { what: `${what} (p99)`, unit: 'ms', ours: spread(results.map((r) => r.p99)) },
  ];
}

function toPercentiles(times) {
  const sorted = times.sort((a, b) => a - b);
  return { p50: sorted[Math.floor(SAMPLES * 0.5)], p99: sorted[Math.floor(SAMPLES * 0.99)] };
}

/** Theirs looks once a second, so events come at all moments of it. It hangs up after each answer. */
function wakeReference() {
  let cursor = '';
  return async (receiver, n) => {
    const path = `/akep/events/wait?cursor=${cursor}&timeout_seconds=30`;
    const waiting = request(`http://127.0.0.1:${receiver.port}${path}`, { headers: AS_AGENT }).then(
      async ({ body }) => ({ answer: await body.json(), at: performance.now() }),
    );
    await new Promise((resolve) => setTimeout(resolve, (n * 377) % 1000));
    const sentAt = performance.now();
    await sendEvent(receiver);
    const { answer, at } = await waiting;
    cursor = answer.next_cursor;
    return at - sentAt;
  };
}

async function events(rounds) {
  const inMemory = folderInMemory();
  return inTurn(rounds, {
    ours: await eventsIn(temporaryFolder()),
    least: await leastEvents(),
    ...(inMemory && { inMemory: await eventsIn(inMemory) }),
  });
}

async function decisions(rounds) {
  const inMemory = folderInMemory();
  const count = (WARM_UP + SAMPLES) * (rounds + 1);
  return inTurn(rounds, {
    ours: await decisionsIn(temporaryFolder(), count),
    ...(inMemory && { inMemory: await decisionsIn(inMemory, count) }),
  });
}

/**
 * Times each by itself while the others stand still, after one round to warm up. Connections are opened by the round that
 * uses them: a server hangs up on those that say nothing for fifteen seconds, and preparing the others takes longer.
 */
async function inTurn(rounds, scenes) {
  const timed = ({ server, wake }) => {
    process.kill(server.pid, 'SIGSTOP');
    return async () => {
      process.kill(server.pid, 'SIGCONT');
      const waking = await Waking.open(server);
      for (let n = 0; n < WARM_UP; n++) await wake(waking);
      const times = [];
      for (let n = 0; n < SAMPLES; n++) times.push(await wake(waking));
      waking.close();
      process.kill(server.pid, 'SIGSTOP');
      return toPercentiles(times);
    };
  };
  const contestants = Object.fromEntries(Object.entries(scenes).map(([name, scene]) => [name, timed(scene)]));
  try {
    await inRounds(1, contestants);
    return await inRounds(rounds, contestants);
  } finally {
    for (const { server, folder } of Object.values(scenes)) {
      await server.stop();
      remove(folder);
    }
  }
}

async function eventsIn(folder) {
  const server = await startAkep(folder);
  let cursor = await endOf(server);
  const wake = async (waking) => {
    const { answer, millis } = await waking.once(waitFor(cursor), toBytes(signedEvent()), 202);
    cursor = answer.next_cursor;
    return millis;
  };
  return { folder, server, wake };
}

async function leastEvents() {
  const server = await startLeastWake();
  const wake = async (waking) => (await waking.once(waitFor(''), toBytes(signedEvent()), 202)).millis;
  return { folder: server.folder, server, wake };
}

async function decisionsIn(folder, count) {
  const { token, waiting } = await fill(folder, { total: 1, fresh: 1, open: count });
  const server = await startLanternroom(folder);
  const wake = async (waking) => {
    const item = waiting.shift();
    const wait = { method: 'GET', path: `/wake/v1/response/${item.id}?wait=30`, headers: AS_AGENT };
    const { answer, millis } = await waking.once(wait, toBytes(decision(token, item)), 200);
    if (answer.status !== 'approved') throw new Error(`the waiter was told ${JSON.stringify(answer)}`);
    return millis;
  };
  return { folder, server, wake };
}
