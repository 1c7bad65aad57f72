import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { chained, numbered, rowsLike, seal } from './rows.mjs';
import { takeGroups } from './thread.mjs';

/** The writer of `intake.mjs` on PostgreSQL: the same rows, copied over one connection that never waits to send. */
const { url, tables, driver } = workerData;
const { PgLink } = await import(pathToFileURL(join(driver, 'dist/storage/postgres/link.js')).href);
/** While one group is on its way to the disk, the next one is already sent. */
const AT_ONCE = 2;

const link = await PgLink.open(url, (reason) => {
  throw reason;
});
const patterns = [];
for (const table of tables) {
  const { rows } = await link.query(`select * from ${table} order by seq desc limit 1`, []);
  const { names, next } = rowsLike(rows[0]);
  patterns.push({ insert: { table, columns: names }, next });
}
const key = createSecretKey(randomBytes(32));
let [last, count] = ['', 0];

takeGroups(store, AT_ONCE);

async function store(items) {
  const owns = items.map(toOwn);
  await Promise.all([
    link.exec('begin'),
    ...patterns.map(({ insert, next }) => link.copy(insert, owns.map(next))),
    link.exec('commit'),
  ]);
  return owns.map(({ id }) => id);
}

function toOwn({ body, note }) {
  const id = numbered(++count);
  last = chained(last, `${id}${note}`);
  return { id, hash: last, body: seal(key, body) };
}
