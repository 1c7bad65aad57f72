import { memoryOf } from '../cost.mjs';
import { deliverJob } from '../requests/deliveries.mjs';
import { drive, inRounds, spread } from '../rounds.mjs';
import { fill, newStore, remove, startLanternroom, temporaryFolder } from '../servers.mjs';

const MANY = 1_000_000;
const MANY_QUICKLY = 200_000;
const REST_MS = 3_000;
const MIB = 2 ** 20;

/** What the server costs before anybody uses it, and whether a full store slows it down. */
export const b11 = {
  name: 'B11',
  async run(bench) {
    const starts = await starting(bench);
    return [...starts, await growth(bench)];
  },
};

async function starting({ rounds }) {
  const folder = temporaryFolder();
  const first = await measureStart(folder);
  const again = [];
  for (let round = 0; round < rounds; round++) again.push(await measureStart(folder));
  remove(folder);
  return [
    {
      what: 'cold start to ready',
      unit: 'ms',
      ours: spread(again.map((start) => start.readyMs)),
      goal: { most: 1000 },
      notes: { firstStartOnAnEmptyFolderMs: first.readyMs },
    },
    {
      what: 'memory idle',
      unit: 'MiB',
      ours: spread(again.map((start) => start.memory / MIB)),
      goal: { most: 120 },
    },
  ];
}

async function measureStart(folder) {
  const server = await startLanternroom(folder);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const memory = memoryOf(server.pid);
  await server.stop();
  return { readyMs: server.readyMs, memory };
}

async function growth({ rounds, times, quick, say }) {
  const total = quick ? MANY_QUICKLY : MANY;
  const [empty, full] = [await newStore(), temporaryFolder()];
  say(`filling a store with ${total.toLocaleString('en')} deliveries`);
  await fill(full, { total, fresh: 1 });
  const servers = { empty: await startLanternroom(empty), full: await startLanternroom(full) };
  try {
    const results = await inRounds(rounds, {
      empty: () => drive(servers.empty, deliverJob(times)),
      full: () => drive(servers.full, deliverJob(times)),
    });
    return toGrowth(total, results);
  } finally {
    await Promise.all([servers.empty.stop(), servers.full.stop()]);
    remove(empty);
    remove(full);
  }
}

function toGrowth(total, { empty, full }) {
  const rate = (results) => spread(results.map((result) => result.perSecond));
  return {
    what: `deliver at ${total.toLocaleString('en')} rows`,
    unit: '/s',
    ours: rate(full),
    against: 'deliver when empty',
    baseline: rate(empty),
    ratio: spread(full.map((result, i) => result.perSecond / empty[i].perSecond)),
    goal: { least: 0.7 },
    notes: { p99Ms: spread(full.map((r) => r.p99)).median },
    raw: { baseline: empty, ours: full },
  };
}
