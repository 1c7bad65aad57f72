import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_NAME, PYTHON_NAME, referenceLookup, referenceRounds } from '../baselines/reference.mjs';
import { AKEP_ENV, getJson, ingestJob, SECRET, sendEvent, startAkep } from '../requests/akep.mjs';
import { beside, drive, inRounds, spread } from '../rounds.mjs';
import { end, remove, SETTINGS, startBare, startLeast } from '../servers.mjs';
import { fillEvents } from '../stores/fill-events.mjs';

const AGAINST = { unstored: { least: 0.9 }, bare: { least: 0.4 } };
const LEAST = 'the least that stores such rows';
const LOOKUP_EVENTS = 50_000;
const LOOKUPS = 200;
/** Theirs read everything each time. */
const REFERENCE_LOOKUPS = 20;
/** A disk that takes two milliseconds longer to say that it has it, as many in a cloud do. */
const SLOW_DISK = [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null'],
  ...['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=2000'],
];

/** Signed events over 64 connections, on disk before each answer. */
export const b1 = {
  name: 'B1',
  async run({ rounds, times, quick, say }) {
    const ours = await startAkep();
    const [unstored, bare, least] = [await startUnstored(), await startBare(), await leastIngest()];
    let results;
    try {
      results = await inRounds(rounds, {
        bare: () => drive(bare, ingestJob(times, { expect: 201 })),
        unstored: () => drive(unstored, ingestJob(times)),
        least: () => drive(least, ingestJob(times, { expect: 201 })),
        ours: () => drive(ours, ingestJob(times)),
        ...referenceRounds(times),
      });
    } finally {
      await Promise.all([ours, unstored, bare, least].map((server) => server.stop()));
      for (const { folder } of [ours, unstored, least]) remove(folder);
    }
    return [
      ...toResults(results),
      ...(await onSlowDisk(rounds, times, say)),
      await lookup(quick ? LOOKUP_EVENTS / 10 : LOOKUP_EVENTS, times, say),
    ];
  },
};

/** The same with a slow disk and four times the connections: does waiting for the disk hold everybody up? */
async function onSlowDisk(rounds, times, say) {
  if (spawnSync('strace', ['-V']).status !== 0) {
    say('strace is not here, so the slow disk is left out');
    return [];
  }
  const ours = await startAkep(undefined, { under: SLOW_DISK });
  const [bare, least] = [await startBare(), await leastIngest({ under: SLOW_DISK })];
  const many = { connections: 256 };
  try {
    const results = await inRounds(rounds, {
      bare: () => drive(bare, ingestJob(times, { ...many, expect: 201 })),
      least: () => drive(least, ingestJob(times, { ...many, expect: 201 })),
      ours: () => drive(ours, ingestJob(times, many)),
    });
    return toSlowResults(results);
  } finally {
    await Promise.all([ours.stop(), bare.stop(), least.stop()]);
    for (const { folder } of [ours, least]) remove(folder);
  }
}

function toSlowResults({ bare, least, ours }) {
  const slowly = (what) => `${what}, 2 ms added to each fsync, 256 connections`;
  const rates = (results) => results.map(({ perSecond }) => perSecond);
  const p99s = (results) => results.map(({ p99 }) => p99);
  const ingest = { what: slowly('signed ingest'), own: rates(ours) };
  const toBare = { against: 'bare node:http', others: rates(bare) };
  return [
    { ...beside({ ...ingest, ...toBare }), goal: { least: 0.3 } },
    beside({ ...ingest, against: LEAST, others: rates(least) }),
    beside({ what: slowly('the least'), own: rates(least), ...toBare }),
    beside({
      what: slowly('signed ingest, p99'),
      unit: 'ms',
      own: p99s(ours),
      against: LEAST,
      others: p99s(least),
    }),
  ];
}

/** In a store of its own, with an event of ours for a pattern. */
async function leastIngest(options = {}) {
  const server = await startAkep();
  await sendEvent(server);
  await server.stop();
  return startLeast(server.folder, {
    ...options,
    tables: ['events', 'entries', 'ledger'],
    secret: SECRET,
  });
}

/** The same server without storing, on a folder that a real start has set up. */
async function startUnstored() {
  const { folder, stop } = await startAkep();
  await stop();
  const env = {
    ...process.env,
    ...SETTINGS,
    ...AKEP_ENV,
    LANTERNROOM_DATA: join(folder, 'data'),
    LANTERNROOM_LOG: 'silent',
  };
  const child = fork(fileURLToPath(new URL('../baselines/unstored.mjs', import.meta.url)), {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = await once(child, 'message');
  const kill = () => end(child, 'SIGKILL'); // it has nothing to lose
  return { name: 'the same without storing', port, pid: child.pid, folder, stop: kill };
}

function toResults({ bare, unstored, least, ours, python, node, nodeAt10000 }) {
  const rate = (results) => spread(results.map((result) => result.perSecond));
  const common = {
    what: 'signed ingest, durable',
    unit: '/s',
    ours: rate(ours),
    notes: {
      p50Ms: spread(ours.map((r) => r.p50)).median,
      p99Ms: spread(ours.map((r) => r.p99)).median,
      cpuMicrosEach: spread(ours.map((r) => r.cpuMicrosEach)).median,
    },
  };
  const beside = (against, name, other) => ({
    ...common,
    against,
    baseline: rate(other),
    ratio: spread(ours.map((result, i) => result.perSecond / other[i].perSecond)),
    goal: AGAINST[name],
    raw: { baseline: other, ours },
  });
  const reference = (against, others, goal) => ({ ...beside(against, null, others), goal: { least: goal } });
  const p99 = (results) => spread(results.map((result) => result.p99));
  return [
    beside('without storing', 'unstored', unstored),
    beside('bare node:http', 'bare', bare),
    reference(PYTHON_NAME, python, 25),
    {
      ...reference(PYTHON_NAME, python, 80),
      what: 'signed ingest, p99',
      unit: 'ms',
      ours: p99(ours),
      baseline: p99(python),
      ratio: spread(ours.map((result, i) => python[i].p99 / result.p99)),
    },
    reference(NODE_NAME, node, 50),
    reference(`${NODE_NAME} with 10 000 events, ours with more`, nodeAt10000, 500),
    beside(LEAST, 'least', least),
    {
      what: LEAST,
      unit: '/s',
      ours: rate(least),
      against: 'bare node:http',
      baseline: rate(bare),
      ratio: spread(least.map((result, i) => result.perSecond / bare[i].perSecond)),
    },
  ];
}

/** A task among many events: by index, so the same with few and with many. */
async function lookup(total, times, say) {
  say(`filling a store with ${total.toLocaleString('en')} events`);
  const folder = await fillEvents(total);
  const server = await startAkep(folder);
  const look = (n) => getJson(server, `/akep/tasks/task-${n % 256}`);
  // The warm-up of every row: what counts is a server that runs, and not the compiling of this program.
  const warmUntil = performance.now() + times.warmupMs;
  for (let n = 0; performance.now() < warmUntil; n++) await look(n);
  const took = [];
  for (let n = 0; n < LOOKUPS; n++) {
    const before = performance.now();
    await look(n);
    took.push(performance.now() - before);
  }
  await server.stop();
  remove(folder);
  const { median } = spread(took);
  const theirs = await referenceLookup(LOOKUP_EVENTS, REFERENCE_LOOKUPS);
  return {
    what: `task lookup at ${total.toLocaleString('en')} events (p50)`,
    unit: 'ms',
    ours: spread([median]),
    against: `${PYTHON_NAME} at 50 000`,
    baseline: spread([theirs]),
    ratio: spread([theirs / median]),
    goal: { least: 300 },
  };
}
