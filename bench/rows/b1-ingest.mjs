import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AKEP_ENV, getJson, ingestJob, REFERENCE, SECRET, sendEvent, startAkep } from '../akep.mjs';
import { fillEvents } from '../fill-events.mjs';
import { drive, inRounds, spread } from '../rounds.mjs';
import { remove, SETTINGS, startBare, startLeast } from '../servers.mjs';

const AGAINST = { unstored: { least: 0.9 }, bare: { least: 0.4 } };
const LEAST = 'the least that stores such rows';
const LOOKUP_EVENTS = 50_000;
const LOOKUPS = 200;
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
  const bare = await startBare();
  const many = { connections: 256 };
  try {
    const results = await inRounds(rounds, {
      bare: () => drive(bare, ingestJob(times, { ...many, expect: 201 })),
      ours: () => drive(ours, ingestJob(times, many)),
    });
    const rate = (all) => spread(all.map((result) => result.perSecond));
    return [
      {
        what: 'signed ingest, 2 ms added to each fsync, 256 connections',
        unit: '/s',
        ours: rate(results.ours),
        against: 'bare node:http',
        baseline: rate(results.bare),
        ratio: spread(results.ours.map((result, i) => result.perSecond / results.bare[i].perSecond)),
        goal: { least: 0.3 },
        notes: { p99Ms: spread(results.ours.map((r) => r.p99)).median },
      },
    ];
  } finally {
    await Promise.all([ours.stop(), bare.stop()]);
    remove(ours.folder);
  }
}

/** In a store of its own, with an event of ours for a pattern. */
async function leastIngest() {
  const server = await startAkep();
  await sendEvent(server);
  await server.stop();
  return startLeast(server.folder, { tables: ['events', 'entries', 'ledger'], secret: SECRET });
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
  const child = fork(fileURLToPath(new URL('../unstored.mjs', import.meta.url)), {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = await once(child, 'message');
  const end = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL'); // it may stand still, and has nothing to lose
    await exited;
  };
  return { name: 'the same without storing', port, pid: child.pid, folder, stop: end };
}

function toResults({ bare, unstored, least, ours }) {
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
  const constant = (against, unit, value, figures, least, ratio) => ({
    ...common,
    what: unit === 'ms' ? 'signed ingest, p99' : common.what,
    unit,
    ours: spread(figures),
    against,
    baseline: spread([value]),
    ratio: spread(figures.map(ratio)),
    goal: { least },
  });
  const rates = ours.map((r) => r.perSecond);
  const p99s = ours.map((r) => r.p99);
  const { pythonPerSecond, pythonP99Ms, nodeEmptyPerSecond } = REFERENCE;
  return [
    beside('without storing', 'unstored', unstored),
    beside('bare node:http', 'bare', bare),
    constant("AKEP's Python receiver", '/s', pythonPerSecond, rates, 25, (r) => r / pythonPerSecond),
    constant("AKEP's Python receiver", 'ms', pythonP99Ms, p99s, 80, (p) => pythonP99Ms / p),
    constant("AKEP's Node example", '/s', nodeEmptyPerSecond, rates, 50, (r) => r / nodeEmptyPerSecond),
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
  return {
    what: `task lookup at ${total.toLocaleString('en')} events (p50)`,
    unit: 'ms',
    ours: spread([median]),
    against: "AKEP's Python receiver at 50 000",
    baseline: spread([REFERENCE.pythonLookupMs]),
    ratio: spread([REFERENCE.pythonLookupMs / median]),
    goal: { least: 300 },
  };
}
