import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres } from '../../scripts/postgres.mjs';
import { toBytes, Waking } from '../load/line.mjs';
import { AKEP_ENV, endOf, signedEvent, waitFor } from '../requests/akep.mjs';
import { DELIVERY_TABLES, deliverJob, deliverOne } from '../requests/deliveries.mjs';
import { beside, drive, inRounds, spread } from '../rounds.mjs';
import {
  answerOf,
  fill,
  remove,
  startLanternroom,
  startLeast,
  startLeastOnPostgres,
  temporaryFolder,
} from '../servers.mjs';

const SAMPLES = 200;
const SECRET = 'one master key for all of the replicas';
/** Set up like a small database server; everything that makes it durable keeps its default. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '4GB' };

const RECEIVERS = Array.from({ length: 100 }, (_, i) => `http://127.0.0.1:${20_000 + i}/callback`);
const LEAST_DELIVERY = 'the least that stores such rows on PostgreSQL';
const LEAST_RAW = 'the least that seals, chains and locks one head';
const QUEUES = ['pg-boss', 'graphile-worker'];

/** The same program on PostgreSQL: one replica over HTTP, two replicas on raw rows, news between two, and jobs. */
export const b9 = {
  name: 'B9',
  async run({ rounds, times, quick }) {
    const postgres = await startPostgres({ durable: true, settings: SETTINGS });
    try {
      return [
        ...(await inDatabase(postgres, 'least_doors', (leastEnv) =>
          inDatabase(postgres, 'doors', (env) => overHttp({ env, leastEnv, rounds, times })),
        )),
        ...(await inDatabase(postgres, 'raw_rows', (env) => rawRows(env, rounds, times))),
        ...(await inDatabase(postgres, 'news', (env) => acrossReplicas(env, rounds))),
        ...(await jobQueues(postgres, rounds, quick ? 2_000 : 20_000)),
      ];
    } finally {
      await postgres.stop();
    }
  },
};

/**
 * Its rows are removed before the next part begins: otherwise vacuum and checkpoint of millions of them would be part
 * of the measurement.
 */
async function inDatabase(postgres, name, work) {
  await command(postgres, `create database ${name}`);
  const result = await work({ DATABASE_URL: postgres.url(name), LANTERNROOM_SECRET: SECRET });
  await command(postgres, `drop database ${name} with (force)`);
  await command(postgres, 'checkpoint');
  return result;
}

async function command(postgres, sql) {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  await client.query(sql);
  await client.end();
}

async function overHttp({ env, leastEnv, rounds, times }) {
  const [sqlite, ours] = [await startFilled(), await startFilled(env)];
  const [leastSqlite, least] = [await startLeastOnSqlite(), await startLeastOn(leastEnv)];
  const all = { sqlite, ours, leastSqlite, least };
  try {
    const results = await inRounds(
      rounds,
      Object.fromEntries(
        Object.entries(all).map(([name, server]) => [name, () => drive(server, deliverJob(times))]),
      ),
    );
    const rates = Object.fromEntries(
      Object.entries(results).map(([name, all]) => [name, all.map(({ perSecond }) => perSecond)]),
    );
    const deliver = { what: 'WAKE deliver on PostgreSQL, one replica', own: rates.ours };
    const same = 'the same on SQLite';
    return [
      { ...beside({ ...deliver, against: same, others: rates.sqlite }), goal: { least: 0.8 } },
      beside({ what: LEAST_DELIVERY, own: rates.least, against: same, others: rates.leastSqlite }),
      beside({ ...deliver, against: LEAST_DELIVERY, others: rates.least }),
    ];
  } finally {
    for (const server of Object.values(all)) {
      await server.stop();
      remove(server.folder);
    }
  }
}

async function startFilled(env = {}) {
  const folder = temporaryFolder();
  await fill(folder, { total: 1, fresh: 1, env });
  return { folder, ...(await startLanternroom(folder, { env })) };
}

async function startLeastOnSqlite() {
  const folder = await withOneDelivery({});
  return startLeast(folder, { tables: DELIVERY_TABLES });
}

async function startLeastOn(env) {
  const folder = await withOneDelivery(env);
  return startLeastOnPostgres(folder, env.DATABASE_URL, DELIVERY_TABLES);
}

/** For a pattern. */
async function withOneDelivery(env) {
  const folder = temporaryFolder();
  await fill(folder, { total: 1, fresh: 1, env });
  await deliverOne(folder, env);
  return folder;
}

/**
 * Two processes each: one pair through our store, with a reader that follows the ledger; the others as bare as
 * possible.
 */
async function rawRows(env, rounds, times) {
  const folder = temporaryFolder();
  await fill(folder, { total: 1, fresh: 1, env });
  const task = { folder, env, times };
  const pair = (kind) => Promise.all([1, 2].map((n) => replica({ ...task, kind, n })));
  const results = await inRounds(rounds, {
    raw: async () => sum(await pair('raw')),
    least: async () => sum(await pair('least')),
    ours: async () => {
      const reading = replica({ ...task, kind: 'follow' });
      const written = await pair('store');
      const { broken } = await reading;
      if (broken !== null) throw new Error(`L3 does not hold: ${broken}`);
      return sum(written);
    },
  });
  remove(folder);
  const replicas = { what: 'two replicas on one PostgreSQL, raw rows, L3 checked', own: results.ours };
  const bare = { against: 'bare inserts of the same rows, 64 a transaction', others: results.raw };
  return [
    { ...beside({ ...replicas, ...bare }), goal: { least: 0.6 } },
    beside({ what: LEAST_RAW, own: results.least, ...bare }),
    beside({ ...replicas, against: LEAST_RAW, others: results.least }),
  ];
}

const sum = (results) => results.reduce((total, { perSecond }) => total + perSecond, 0);

const replica = (task) => inProcess('../workers/replica.mjs', task);

function inProcess(program, task) {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [JSON.stringify(task)]);
  return answerOf(child, 'a process of the bench');
}

async function acrossReplicas(database, rounds) {
  const folders = [temporaryFolder(), temporaryFolder()];
  const env = { ...database, ...AKEP_ENV };
  const [one, other] = [
    await startLanternroom(folders[0], { env }),
    await startLanternroom(folders[1], { env }),
  ];
  const results = [];
  try {
    await wakeUps(one, other);
    for (let n = 0; n < rounds; n++) results.push(await wakeUps(one, other));
  } finally {
    await Promise.all([one.stop(), other.stop()]);
    for (const folder of folders) remove(folder);
  }
  const row = (name, most) => ({
    what: `event on one replica to a waiter on another (${name})`,
    unit: 'ms',
    ours: spread(results.map((r) => r[name])),
    goal: { most },
  });
  return [row('p50', 5), row('p99', 20)];
}

async function wakeUps(one, other) {
  const waking = await Waking.open(other, one);
  const times = [];
  let cursor = await endOf(other);
  for (let n = 0; n < SAMPLES; n++) {
    const { answer, millis } = await waking.once(waitFor(cursor), toBytes(signedEvent()), 202);
    cursor = answer.next_cursor;
    times.push(millis);
  }
  waking.close();
  const sorted = times.sort((a, b) => a - b);
  return { p50: sorted[Math.floor(SAMPLES * 0.5)], p99: sorted[Math.floor(SAMPLES * 0.99)] };
}

/**
 * Jobs that do nothing, claimed and recorded by our dispatcher and by other people's queues. No goal, only a
 * comparison.
 */
async function jobQueues(postgres, rounds, total) {
  let made = 0;
  const once = async (kind) => {
    const folder = temporaryFolder();
    const { perSecond } = await inDatabase(postgres, `queue_${++made}`, async (env) => {
      if (kind === 'ours') await fill(folder, { total: 0, fresh: total, callbacks: RECEIVERS, env });
      return inProcess('../workers/queues.mjs', { kind, total, env, folder });
    });
    remove(folder);
    return perSecond;
  };
  const results = await inRounds(
    rounds,
    Object.fromEntries(['ours', ...QUEUES].map((kind) => [kind, () => once(kind)])),
  );
  return QUEUES.map((kind) => ({
    what: 'jobs claimed and recorded by our dispatcher',
    unit: '/s',
    ours: spread(results.ours),
    against: kind,
    baseline: spread(results[kind]),
    ratio: spread(results.ours.map((rate, i) => rate / results[kind][i])),
  }));
}
