import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';

/** What the programs that do the least have in common: rows shaped as ours, seals, a chain, and a store as durable as ours. */
const NONCE = 12;
const TAG = 16;

export function seal(key, plain) {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

export function open(key, sealed) {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
  cipher.setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
  const plain = cipher.update(sealed.subarray(NONCE + TAG));
  cipher.final();
  return plain;
}

/** A ledger's line is hashed with the one before it. */
export const chained = (last, line) => createHash('sha256').update(last).update(line).digest('hex');

/** Long and in order, as ids of ours that follow the clock are. */
export const numbered = (n) => `least-${String(n).padStart(30, '0')}`;

export function openStore(file) {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536');
  db.exec('pragma wal_autocheckpoint = 2000');
  return db;
}

/** Everything that is written within one commit. */
export function committing(db) {
  return (items, write) => {
    db.exec('begin immediate');
    const outcomes = items.map(write);
    db.exec('commit');
    return outcomes;
  };
}

export const lastOf = (db, table) => db.prepare(`select * from ${table} order by rowid desc limit 1`).get();

/** Adds rows like the last one of a table, but for what is `fixed` otherwise. */
export function insertInto(db, table, fixed = {}) {
  const { names, next } = rowsLike({ ...lastOf(db, table), ...fixed });
  const statement = db.prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`);
  return (own) => {
    const row = next(own);
    statement.run(...names.map((name) => row[name]));
  };
}

/**
 * Rows like this one, with their own id, hash and body. Columns that are null there are left out. Places and times
 * increase by one for each row, or by the `step` that a row brings along.
 */
export function rowsLike(pattern) {
  const row = Object.fromEntries(Object.entries(pattern).filter(([, value]) => value !== null));
  const names = Object.keys(row);
  const steps = names.filter((name) => STEPS.has(name));
  const owned = names.filter((name) => name in OWN);
  let added = 0;
  const next = (own) => {
    const step = own.step ?? ++added;
    const copy = { ...row };
    for (const name of steps) copy[name] += step;
    for (const name of owned) copy[name] = own[OWN[name]] ?? copy[name];
    return copy;
  };
  return { names, next };
}

const OWN = {
  delivery_id: 'id',
  event_id: 'id',
  subject: 'id',
  hash: 'hash',
  data: 'data',
  body: 'body',
  // Only for jobs and tasks: elsewhere, what belongs to a task stays with the pattern's task.
  job_id: 'job',
  origin: 'origin',
  request: 'request',
  task_id: 'task',
  context_id: 'task',
  entry_key: 'key',
};
const STEPS = new Set([
  ...['seq', 'place', 'event_seq', 'task_seq'],
  ...['changed_at', 'section_at', 'created_at', 'received_at', 'due_at'],
]);
