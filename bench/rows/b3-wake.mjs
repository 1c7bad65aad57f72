import { request } from 'undici';
import { AS_AGENT, endOf, sendEvent, signedEvent, startAkep, waitFor } from '../akep.mjs';
import { decision } from '../decisions.mjs';
import { toBytes, Waking } from '../line.mjs';
import { PYTHON_NAME, referenceWait } from '../reference.mjs';
import { inRounds, spread } from '../rounds.mjs';
import { fill, remove, startLanternroom, startLeastWake, temporaryFolder } from '../servers.mjs';

const SAMPLES = 300;
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
  const [server, least] = [await startAkep(), await startLeastWake()];
  const [waking, bareWaking] = [await Waking.open(server), await Waking.open(least)];
  const ours = async () => {
    const times = [];
    let cursor = await endOf(server);
    for (let n = 0; n < SAMPLES; n++) {
      const { answer, millis } = await waking.once(waitFor(cursor), toBytes(signedEvent()), 202);
      cursor = answer.next_cursor;
      times.push(millis);
    }
    return toPercentiles(times);
  };
  const bare = async () => {
    const times = [];
    for (let n = 0; n < SAMPLES; n++)
      times.push((await bareWaking.once(waitFor(''), toBytes(signedEvent()), 202)).millis);
    return toPercentiles(times);
  };
  try {
    await inRounds(1, { ours, bare }); // to warm up
    const results = await inRounds(rounds, { ours, bare });
    return { ours: results.ours, least: results.bare };
  } finally {
    waking.close();
    bareWaking.close();
    await Promise.all([server.stop(), least.stop()]);
    for (const { folder } of [server, least]) remove(folder);
  }
}

async function decisions(rounds) {
  const folder = temporaryFolder();
  const { token, waiting } = await fill(folder, { total: 1, fresh: 1, open: SAMPLES * (rounds + 1) });
  const server = await startLanternroom(folder);
  const waking = await Waking.open(server);
  try {
    const ours = async () => {
      const times = [];
      for (const item of waiting.splice(0, SAMPLES)) {
        const wait = { method: 'GET', path: `/wake/v1/response/${item.id}?wait=30`, headers: AS_AGENT };
        const { answer, millis } = await waking.once(wait, toBytes(decision(token, item)), 200);
        if (answer.status !== 'approved') throw new Error(`the waiter was told ${JSON.stringify(answer)}`);
        times.push(millis);
      }
      return toPercentiles(times);
    };
    await ours(); // to warm up
    return (await inRounds(rounds, { ours })).ours;
  } finally {
    waking.close();
    await server.stop();
    remove(folder);
  }
}
