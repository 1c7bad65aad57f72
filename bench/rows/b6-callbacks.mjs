import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decide } from '../requests/decisions.mjs';
import { beside, inRounds, spread } from '../rounds.mjs';
import { fill, remove, startLanternroom, temporaryFolder } from '../servers.mjs';

/** Plain pools are warm after 7 500, we after 2 500; with three times as many the rates are the same. So `--quick` sends no fewer. */
const TOTAL = 20_000;
const WITH_TROUBLE = { healthy: 98, hung: 1, failing: 1 };
const WITHOUT = { healthy: 100, hung: 0, failing: 0 };
const ANSWERING = { healthy: 98, hung: 0, failing: 0 };
/** Nothing is sent there: the job that names it is only a pattern. */
const ANYBODY = 'http://127.0.0.1:20000/callback';
const LEAST = 'the least that claims, signs, sends and records';
/** Decided at this pace, far below what the server can do: the question is who waits for whom. */
const PACE_MS = 5;
const SHARE = 0.98;
/** The first ones open the connections and warm the program up. */
const WARM_UP = 300;
const BODY = JSON.stringify({ padding: 'x'.repeat(700) });

/** Callbacks with their attempts on the record, to a hundred receivers of which one hangs and one fails. */
export const b6 = {
  name: 'B6',
  async run({ rounds, quick, say }) {
    const paced = quick ? 600 : 2_000;
    say(`sending ${TOTAL.toLocaleString('en')} callbacks`);
    const rates = await inRounds(rounds, {
      plain: () => plainRate(TOTAL),
      least: () => leastRate(TOTAL),
      ours: () => ourRate(TOTAL),
    });
    say('deciding at a steady pace');
    const p99 = await inRounds(rounds, {
      calm: () => pacedP99(WITHOUT, paced),
      troubled: () => pacedP99(WITH_TROUBLE, paced),
    });
    const sent = { what: 'callbacks, 1 hung and 1 failing of 100', own: rates.ours };
    const least = { what: LEAST, own: rates.least };
    const plain = { against: 'plain undici pools', others: rates.plain };
    return [
      { ...beside({ ...sent, ...plain }), goal: { least: 0.4 } },
      beside({ ...least, ...plain }),
      beside({ ...sent, against: LEAST, others: rates.least }),
      {
        what: 'decision to healthy receiver (p99)',
        unit: 'ms',
        ours: spread(p99.troubled),
        against: 'all receivers healthy',
        baseline: spread(p99.calm),
        ratio: spread(p99.troubled.map((ms, i) => ms / p99.calm[i])),
        goal: { most: 1.1 },
      },
    ];
  },
};

/** How fast healthy receivers got their callbacks out of a backlog that waited for the server. */
async function ourRate(total) {
  return withReceivers(WITH_TROUBLE, async ({ origins, arrivalsOf }) => {
    const folder = temporaryFolder();
    await fill(folder, { total: 0, fresh: total, callbacks: origins });
    const arrived = arrivalsOf(healthyOf(total, origins.length));
    const server = await startLanternroom(folder);
    const arrivals = await arrived;
    await server.stop();
    remove(folder);
    return rateOf(arrivals);
  });
}

async function plainRate(total) {
  return senderRate('../baselines/plain-sender.mjs', { total, body: BODY });
}

/** In a store with one callback of ours for a pattern. */
async function leastRate(total) {
  const folder = temporaryFolder();
  await fill(folder, { total: 0, fresh: 1, callbacks: [ANYBODY] });
  const file = join(folder, 'data/lanternroom.db');
  const rate = await senderRate('../least/callbacks.mjs', { total, file });
  remove(folder);
  return rate;
}

/**
 * A sender of the bench, to receivers that all answer. It ends by itself, and with an error code when something went
 * wrong.
 */
async function senderRate(program, job) {
  return withReceivers(ANSWERING, async ({ origins, arrivalsOf }) => {
    const arrived = arrivalsOf(job.total);
    const sender = start(program);
    const ended = once(sender, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`${program} failed; see above`);
    });
    sender.send({ origins, ...job });
    const [arrivals] = await Promise.all([arrived, ended]);
    return rateOf(arrivals);
  });
}

async function pacedP99(receivers, count) {
  return withReceivers(receivers, async ({ origins, arrivalsOf }) => {
    const folder = temporaryFolder();
    const { token, waiting } = await fill(folder, {
      total: 1,
      fresh: 1,
      open: WARM_UP + count,
      callbacks: origins,
    });
    const server = await startLanternroom(folder);
    const decidedAt = new Map();
    const healthy = Math.floor(waiting.length * SHARE);
    const arrived = arrivalsOf(healthy);
    for (const [n, item] of waiting.entries()) {
      if (n >= WARM_UP) decidedAt.set(item.id, performance.timeOrigin + performance.now());
      decide(server, token, item).catch(fail);
      await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    }
    const arrivals = await arrived;
    await server.stop();
    remove(folder);
    return percentile(
      arrivals.filter(({ id }) => decidedAt.has(id)).map(({ at, id }) => at - decidedAt.get(id)),
      0.99,
    );
  });
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}

async function withReceivers(counts, work) {
  const child = start('../load/receivers.mjs');
  child.send(counts);
  const [{ ports }] = await once(child, 'message');
  const origins = Object.values(ports)
    .flat()
    .map((port) => `http://127.0.0.1:${port}`);
  const arrivalsOf = async (expect) => {
    child.send({ expect });
    const [{ arrivals }] = await once(child, 'message');
    return arrivals;
  };
  try {
    return await work({ origins, arrivalsOf });
  } finally {
    child.disconnect();
  }
}

const start = (program) => fork(fileURLToPath(new URL(program, import.meta.url)));

/** Every address gets its share of each group of 256; the last two of a hundred are the hung and the failing one. */
function healthyOf(total, addresses) {
  let healthy = 0;
  for (let n = 0; n < total; n++) if ((n % 256) % addresses < addresses - 2) healthy++;
  return healthy;
}

/** Without the first half, in which connections are opened and the programs warm up. */
function rateOf(arrivals) {
  const times = arrivals.map(({ at }) => at).sort((a, b) => a - b);
  const timed = times.slice(Math.floor(times.length / 2));
  return ((timed.length - 1) * 1000) / (timed.at(-1) - timed[0]);
}

function percentile(values, share) {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length * share)];
}
