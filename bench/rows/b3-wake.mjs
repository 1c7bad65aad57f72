import { request } from 'undici';
import { AS_AGENT, getJson, REFERENCE, sendEvent, startAkep } from '../akep.mjs';
import { spread } from '../rounds.mjs';
import { remove } from '../servers.mjs';

const SAMPLES = 300;
const SETTLE_MS = 5;

/** From the sending of an event to the answer in the hands of whoever waited for it. */
export const b3 = {
  name: 'B3',
  async run({ rounds }) {
    const server = await startAkep();
    const results = [];
    try {
      await round(server);
      for (let n = 0; n < rounds; n++) results.push(await round(server));
    } finally {
      await server.stop();
      remove(server.folder);
    }
    const p50 = results.map((r) => r.p50);
    return [
      {
        what: 'event to parked waiter (p50)',
        unit: 'ms',
        ours: spread(p50),
        against: "AKEP's Python /wait",
        baseline: spread([REFERENCE.pythonWaitMs]),
        ratio: spread(p50.map((ms) => REFERENCE.pythonWaitMs / ms)),
        goal: { least: 200 },
      },
      {
        what: 'event to parked waiter (p99)',
        unit: 'ms',
        ours: spread(results.map((r) => r.p99)),
        goal: { most: 5 },
      },
    ];
  },
};

async function round(server) {
  const times = [];
  let { next_cursor: cursor } = await getJson(server, '/akep/events?limit=1000');
  for (let n = 0; n < SAMPLES; n++) {
    const waiting = request(
      `http://127.0.0.1:${server.port}/akep/events/wait?cursor=${cursor}&timeout_seconds=30`,
      {
        headers: AS_AGENT,
      },
    ).then(async ({ body }) => ({ page: await body.json(), at: performance.now() }));
    // Until it is parked: this is about waking somebody up, not about being there in time.
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const sentAt = performance.now();
    await sendEvent(server);
    const { page, at } = await waiting;
    cursor = page.next_cursor;
    times.push(at - sentAt);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(SAMPLES * 0.5)], p99: times[Math.floor(SAMPLES * 0.99)] };
}
