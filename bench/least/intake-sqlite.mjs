import { createSecretKey, randomBytes } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { chained, committing, insertInto, numbered, openStore, seal } from './rows.mjs';
import { takeGroups } from './thread.mjs';

/** The writer of `intake.mjs`. Of `tables` each gets a row for each request, shaped as the last one there. */
const { file, tables } = workerData;
const db = openStore(file);
const inserts = tables.map((table) => insertInto(db, table));
const key = createSecretKey(randomBytes(32));
const commit = committing(db);
let [last, count] = ['', 0];

takeGroups((items) => commit(items, store));

function store({ body, note }) {
  const id = numbered(++count);
  last = chained(last, `${id}${note}`);
  const own = { id, hash: last, body: seal(key, body) };
  for (const insert of inserts) insert(own);
  return id;
}
