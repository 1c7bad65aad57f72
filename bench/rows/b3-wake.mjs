import { request } from 'undici';
import { AS_AGENT, endOf, REFERENCE, sendEvent, startAkep } from '../akep.mjs';
import { decide } from '../decisions.mjs';
import { spread } from '../rounds.mjs';
import { fill, remove, startLanternroom, temporaryFolder } from '../servers.mjs';

const SAMPLES = 300;
const SETTLE_MS = 5;

/** From the sending of an event, or of a person's decision, to the answer in the hands of whoever waited for it. */
export const b3 = {
  name: 'B3',
  async run({ rounds }) {
    return [...toResults('event', await events(rounds)), ...toResults('decision', await decisions(rounds))];
  },
};

function toResults(what, results) {
  const p50 = results.map((r) => r.p50);
  return [
    {
      what: `${what} to parked waiter (p50)`,
      unit: 'ms',
      ours: spread(p50),
      against: "AKEP's Python /wait",
      baseline: spread([REFERENCE.pythonWaitMs]),
      ratio: spread(p50.map((ms) => REFERENCE.pythonWaitMs / ms)),
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

/** One round to warm up, and those that count. */
async function inTurn(rounds, round) {
  const results = [];
  for (let n = 0; n <= rounds; n++) results.push(toPercentiles(await round()));
  return results.slice(1);
}

function toPercentiles(times) {
  const sorted = times.sort((a, b) => a - b);
  return { p50: sorted[Math.floor(SAMPLES * 0.5)], p99: sorted[Math.floor(SAMPLES * 0.99)] };
}

/** How long after `send` the answer to `path` was there, and what it was. */
async function wake(server, path, send) {
  const waiting = request(`http://127.0.0.1:${server.port}${path}`, { headers: AS_AGENT }).then(
    async ({ body }) => ({ answer: await body.json(), at: performance.now() }),
  );
  // Until it is parked: this is about waking somebody up, not about being there in time.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const sentAt = performance.now();
  await send();
  const { answer, at } = await waiting;
  return { answer, millis: at - sentAt };
}

async function events(rounds) {
  const server = await startAkep();
  try {
    return await inTurn(rounds, async () => {
      const times = [];
      let cursor = await endOf(server);
      for (let n = 0; n < SAMPLES; n++) {
        const path = `/akep/events/wait?cursor=${cursor}&timeout_seconds=30`;
        const { answer, millis } = await wake(server, path, () => sendEvent(server));
        cursor = answer.next_cursor;
        times.push(millis);
      }
      return times;
    });
  } finally {
    await server.stop();
    remove(server.folder);
  }
}

async function decisions(rounds) {
  const folder = temporaryFolder();
  const { token, waiting } = await fill(folder, { total: 1, fresh: 1, open: SAMPLES * (rounds + 1) });
  const server = await startLanternroom(folder);
  try {
    return await inTurn(rounds, async () => {
      const times = [];
      for (const item of waiting.splice(0, SAMPLES)) {
        const path = `/wake/v1/response/${item.id}?wait=30`;
        const { answer, millis } = await wake(server, path, () => decide(server, token, item));
        if (answer.status !== 'approved') throw new Error(`the waiter was told ${JSON.stringify(answer)}`);
        times.push(millis);
      }
      return times;
    });
  } finally {
    await server.stop();
    remove(folder);
  }
}
