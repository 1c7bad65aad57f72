import { parentPort, workerData } from 'node:worker_threads';
import { Database } from './driver.ts';
import { FOLD } from './log-folding.ts';

/** The whole program of the thread that folds the log: it folds on request, and reports when it is done. */
if (parentPort === null) throw new Error('this is a thread of the server, not a program');
const port = parentPort;
const db = new Database(workerData as string);
db.exec('pragma synchronous = full');

port.on('message', () => {
  db.exec(FOLD);
  port.postMessage('folded');
});
