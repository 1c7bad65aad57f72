import { request } from 'undici';
import { AS_AGENT, endOf, sendEvent, startAkep } from '../akep.mjs';
import { decide } from '../decisions.mjs';
import { PYTHON_NAME, referenceWait } from '../reference.mjs';
import { inRounds, spread } from '../rounds.mjs';
import { fill, remove, startLanternroom, startLeastWake, temporaryFolder } from '../servers.mjs';

const SAMPLES = 300;
const SETTLE_MS = 5;
/** Half a second each. */
const REFERENCE_SAMPLES = 40;

/** From the sending of an event, or of a person's decision, to the answer in the hands of whoever waited for it. */
export const b3 = {
  name: 'B3',
  async run({ rounds }) {
    const { ours, least } = await events(rounds);
    const theirs = await referenceWait(REFERENCE_SAMPLES, wakeReference());
    return [
      ...toResults('event', ours, theirs),
      ...toResults('decision', await decisions(rounds), theirs),
      ...limit(least),
    ];
  },
};

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

/** What the disk and the processor take for themselves; no goal, it is what the goals are to be held against. */
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

/** How long after `send` the answer to `path` was there, and what it was. */
async function wake(server, path, send, settleMs = SETTLE_MS) {
  const waiting = request(`http://127.0.0.1:${server.port}${path}`, { headers: AS_AGENT }).then(
    async ({ body }) => ({ answer: await body.json(), at: performance.now() }),
  );
  // Until it is parked: this is about waking somebody up, not about being there in time.
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const sentAt = performance.now();
  await send();
  const { answer, at } = await waiting;
  return { answer, millis: at - sentAt };
}

/** Theirs looks once a second, so events come at all moments of it. */
function wakeReference() {
  let cursor = '';
  return async (receiver, n) => {
    const path = `/akep/events/wait?cursor=${cursor}&timeout_seconds=30`;
    const { answer, millis } = await wake(receiver, path, () => sendEvent(receiver), (n * 377) % 1000);
    cursor = answer.next_cursor;
    return millis;
  };
}

async function events(rounds) {
  const [server, least] = [await startAkep(), await startLeastWake()];
  const ours = async () => {
    const times = [];
    let cursor = await endOf(server);
    for (let n = 0; n < SAMPLES; n++) {
      const path = `/akep/events/wait?cursor=${cursor}&timeout_seconds=30`;
      const { answer, millis } = await wake(server, path, () => sendEvent(server));
      cursor = answer.next_cursor;
      times.push(millis);
    }
    return toPercentiles(times);
  };
  const bare = async () => {
    const times = [];
    for (let n = 0; n < SAMPLES; n++)
      times.push((await wake(least, '/akep/events/wait', () => sendEvent(least))).millis);
    return toPercentiles(times);
  };
  try {
    await inRounds(1, { ours, bare }); // to warm up
    const results = await inRounds(rounds, { ours, bare });
    return { ours: results.ours, least: results.bare };
  } finally {
    await Promise.all([server.stop(), least.stop()]);
    for (const { folder } of [server, least]) remove(folder);
  }
}

async function decisions(rounds) {
  const folder = temporaryFolder();
  const { token, waiting } = await fill(folder, { total: 1, fresh: 1, open: SAMPLES * (rounds + 1) });
  const server = await startLanternroom(folder);
  try {
    const ours = async () => {
      const times = [];
      for (const item of waiting.splice(0, SAMPLES)) {
        const path = `/wake/v1/response/${item.id}?wait=30`;
        const { answer, millis } = await wake(server, path, () => decide(server, token, item));
        if (answer.status !== 'approved') throw new Error(`the waiter was told ${JSON.stringify(answer)}`);
        times.push(millis);
      }
      return toPercentiles(times);
    };
    await ours(); // to warm up
    return (await inRounds(rounds, { ours })).ours;
  } finally {
    await server.stop();
    remove(folder);
  }
}
