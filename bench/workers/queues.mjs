import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { PACKAGE, SETTINGS } from '../servers.mjs';

/**
 * One worker of B9's queues, on PostgreSQL: jobs that do nothing are claimed and put on the record, until none is left.
 * Run with `{ kind, total, env, folder }`; sends `{ perSecond }`. Ours is the dispatcher itself, with nobody listening
 * at the other end: it opens and signs each request, and writes an attempt and a line of the ledger, which the others
 * do not.
 */
const { kind, total, env, folder } = JSON.parse(process.argv[2]);
const url = env.DATABASE_URL;
/** As many as our dispatcher takes at a time. */
const PAGE = 128;

const kinds = { ours, 'pg-boss': pgBoss, 'graphile-worker': graphileWorker };
// Once that has left, nothing is waited for: their connections close by and by, and the database is removed under them.
process.send({ perSecond: await kinds[kind]() }, () => process.exit());

async function ours() {
  const built = (path) => import(pathToFileURL(join(PACKAGE, 'dist', `${path}.js`)).href);
  const { readConfig } = await built('config');
  const { openGround } = await built('main');
  const { Dispatcher } = await built('dispatch/dispatcher');
  const { signCallback: sign } = await built('http/signing/callback-signature');
  const ground = await openGround(
    readConfig({ flags: { data: join(folder, 'data') }, env: { ...SETTINGS, ...env } }),
  );
  // As a server does: a command also writes its news down.
  await ground.data.local?.store.listen();
  const { room } = ground;
  const warn = (problem) => {
    throw problem;
  };
  const outbound = {
    send: async () => ({ ok: true, status: 200, headers: {}, durationMs: 0 }),
    stop: async () => {},
  };
  const wakeups = { on: (topic, wake) => room.store.signals.on(topic, wake) };
  const dispatcher = new Dispatcher({ room, outbound, mailer: null, sign, wakeups, warn, push: null });
  const perSecond = await timed(async () => {
    dispatcher.start();
    while ((await room.store.directory.nextJobAt(0)) !== null) await pause();
  });
  await dispatcher.stop();
  await ground.stop();
  await mustBeOnRecord();
  return perSecond;
}

async function mustBeOnRecord() {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select count(*)::int as n from attempts');
  await client.end();
  if (rows[0].n !== total) throw new Error(`${rows[0].n} of ${total} jobs are on record`);
}

/** Its own worker looks twice a second at most; this is what it does at each look, without the pause. */
async function pgBoss() {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', (problem) => {
    throw problem;
  });
  await boss.start();
  await boss.createQueue('noop');
  for (let at = 0; at < total; at += 1_000)
    await boss.insert(
      Array.from({ length: Math.min(1_000, total - at) }, () => ({ name: 'noop', data: {} })),
    );
  const perSecond = await timed(async () => {
    for (;;) {
      const jobs = await boss.fetch('noop', { batchSize: PAGE });
      if (jobs.length === 0) return;
      await boss.complete(
        'noop',
        jobs.map(({ id }) => id),
      );
    }
  });
  await boss.stop({ graceful: false });
  return perSecond;
}

/** With what its documentation recommends for speed: a local queue, and completions in batches. */
async function graphileWorker() {
  await runMigrations({ connectionString: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`select graphile_worker.add_job('noop', '{}'::json) from generate_series(1, $1)`, [
    total,
  ]);
  let left = total;
  let none = () => {};
  const allDone = new Promise((resolve) => {
    none = resolve;
  });
  const noop = async () => {
    if (--left === 0) none();
  };
  const speed = { localQueue: { size: PAGE }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  const perSecond = await timed(async () => {
    const runner = await run({
      connectionString: url,
      concurrency: 24,
      noHandleSignals: true,
      taskList: { noop },
      preset: { worker: speed },
      logger: new Logger(() => () => {}), // a line for every job would be part of the measure
    });
    await allDone;
    while (Number((await client.query('select count(*) as n from graphile_worker.jobs')).rows[0].n) > 0)
      await pause();
    runner.stop();
    await runner.promise;
  });
  await client.end();
  return perSecond;
}

async function timed(work) {
  const before = performance.now();
  await work();
  return total / ((performance.now() - before) / 1000);
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
