import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { chained, committing, insertInto, numbered, open, openStore, seal } from './rows.mjs';
import { takeGroups } from './thread.mjs';

/** The writer of `callbacks.mjs`, in a store with one job of ours for a pattern, of which it makes many first. */
const LEASE = 30_000_000;
const { file, origins, total } = workerData;
const db = openStore(file);
const key = createSecretKey(randomBytes(32));
const commit = committing(db);
makeJobs();

const due = db.prepare(
  "select space_id, job_id, delivery_id, origin, request, due_at, fence from jobs where state = 'due' and due_at > ? order by due_at limit ?",
);
const lease = db.prepare('update jobs set fence = ?, leased_until = ? where space_id = ? and job_id = ?');
const settle = db.prepare(
  "update jobs set state = 'done', due_at = ?, attempts = 1, leased_until = null where space_id = ? and job_id = ?",
);
const addAttempt = db.prepare(
  "insert into attempts (space_id, job_id, delivery_id, number, at, duration_ms, outcome, status) values (?, ?, ?, 1, ?, ?, 'answered', ?)",
);
const addLine = insertInto(db, 'ledger', { actor: 'system', action: 'callback.attempted' });
const { space_id: space } = db.prepare('select space_id from jobs limit 1').get();
let [lastDue, last] = [0, ''];

takeGroups((items) =>
  commit(items, ({ note }) => (note.claim === undefined ? record(note.record) : claim(note.claim))),
);

function claim(count) {
  const jobs = due.all(lastDue, count);
  const until = micros() + LEASE;
  for (const { job_id, fence } of jobs) lease.run(fence + 1, until, space, job_id);
  lastDue = jobs.at(-1)?.due_at ?? lastDue;
  return jobs.map(({ job_id, delivery_id, origin, request }) => ({
    job: job_id,
    id: delivery_id,
    origin,
    request: open(key, request).toString(),
  }));
}

function record({ job, id, status, durationMs }) {
  const at = micros();
  settle.run(at, space, job);
  addAttempt.run(space, job, id, at, durationMs, status);
  const data = JSON.stringify({ job, attempt: 1, outcome: 'answered', status, state: 'done' });
  last = chained(last, `${id}${data}`);
  addLine({ id, hash: last, data });
  return true;
}

function makeJobs() {
  const insert = insertInto(db, 'jobs', { state: 'due', attempts: 0, fence: 0, leased_until: null });
  db.exec('delete from jobs');
  commit(Array.from({ length: total }), (_, n) => {
    const [id, origin] = [randomUUID(), origins[n % origins.length]];
    const body = JSON.stringify({
      delivery_id: id,
      status: 'approved',
      feedback: 'Send it.',
      edited_content: null,
      responded_at: '2026-11-15T09:00:00.000000Z',
    });
    const request = seal(key, JSON.stringify({ url: `${origin}/callback`, body, tier: 'test' }));
    insert({ job: numbered(n), id, origin, request });
  });
}

function micros() {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}
