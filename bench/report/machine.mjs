import { execFile } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import { spread } from '../rounds.mjs';
import { remove, temporaryFolder } from '../servers.mjs';

/** What the figures depend on. Nothing here names the machine or its owner. */
export async function machine() {
  const [first] = cpus();
  const folder = temporaryFolder();
  const limits = { fsyncMs: fsyncMs(folder), sqliteRowsPerSecond: sqliteRowsPerSecond(folder) };
  remove(folder);
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    twoCoresAre: await twoCoresAre(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    load: loadavg().map((n) => Number(n.toFixed(2))),
    ...limits,
  };
}

const COUNTING = 'let n = 0; for (const end = Date.now() + 700; Date.now() < end; ) n++; console.log(n)';

/**
 * What two busy processes achieve together, as a multiple of one: less than 2 where cores are hyperthreads, or
 * shared.
 */
async function twoCoresAre() {
  const count = async () => Number((await promisify(execFile)(process.execPath, ['-e', COUNTING])).stdout);
  await count();
  const alone = await count();
  const [one, other] = await Promise.all([count(), count()]);
  return Number(((one + other) / alone).toFixed(2));
}

/** How long one durable write of a page takes here: what a commit cannot be faster than. */
function fsyncMs(folder) {
  const file = openSync(join(folder, 'probe'), 'w');
  const times = Array.from({ length: 50 }, (_, i) => {
    const before = performance.now();
    writeSync(file, Buffer.alloc(8192, i));
    fdatasyncSync(file);
    return performance.now() - before;
  });
  closeSync(file);
  return Number(spread(times).median.toFixed(3));
}

const GROUP = 64;
const PROBE_MS = 1_000;

/** Rows of a kilobyte in durable groups of 64, without an index and without a server: the ceiling of any row here. */
function sqliteRowsPerSecond(folder) {
  const db = new DatabaseSync(join(folder, 'probe.db'));
  db.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full');
  db.exec('create table probe (n integer primary key, body blob)');
  const insert = db.prepare('insert into probe (body) values (?)');
  const body = Buffer.alloc(1024, 7);
  const started = performance.now();
  let rows = 0;
  while (performance.now() - started < PROBE_MS) {
    db.exec('begin immediate');
    for (let i = 0; i < GROUP; i++) insert.run(body);
    db.exec('commit');
    rows += GROUP;
  }
  db.close();
  return Math.round((rows * 1000) / (performance.now() - started));
}
