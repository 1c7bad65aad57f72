import { createSecretKey, randomBytes } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { chained, committing, insertInto, lastOf, openStore, seal } from './rows.mjs';
import { takeGroups } from './thread.mjs';

/** The writer of `a2a.mjs`, in a store where a message of ours waits for its agent: the last rows are the patterns. */
const db = openStore(workerData.file);
const key = createSecretKey(randomBytes(32));
const [task, frame] = [lastOf(db, 'tasks'), lastOf(db, 'frames')];
const addTask = insertInto(db, 'tasks');
const addFrame = insertInto(db, 'frames');
const addMessage = insertInto(db, 'task_log');
const addReport = insertInto(db, 'task_log', { pos: 2, kind: 'status', note: 'completed' });
const addOpened = insertInto(db, 'ledger');
const addEnded = insertInto(db, 'ledger', { action: 'task.completed', data: '{}' });
const endTask = db.prepare(
  "update tasks set state = 'completed', changed_at = ?, length = 2, log_bytes = ? where space_id = ? and seq = ?",
);
const removeFrame = db.prepare('delete from frames where space_id = ? and agent_id = ? and place = ?');
let [lines, last] = [0, ''];

const commit = committing(db);
takeGroups((items) => commit(items, ({ body, note }) => (note.isEnd ? end : begin)(body, note)));

function begin(plain, { n, task: id, key: entryKey }) {
  const own = { step: n, task: id, key: entryKey, body: seal(key, plain) };
  addTask(own);
  addMessage(own);
  addFrame(own);
  addOpened(nextLine(id, 'task.opened'));
  return true;
}

function end(plain, { n, task: id, key: entryKey }) {
  addReport({ step: n, key: entryKey, body: seal(key, plain) });
  endTask.run(task.changed_at + n + 1, task.log_bytes + plain.length, task.space_id, task.seq + n);
  removeFrame.run(frame.space_id, frame.agent_id, frame.place + n);
  addEnded(nextLine(id, 'task.completed'));
  return true;
}

function nextLine(id, action) {
  last = chained(last, `${id}${action}`);
  return { step: ++lines, id, hash: last };
}
