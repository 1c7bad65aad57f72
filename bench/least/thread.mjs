import { fileURLToPath } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';

/** As many as our own server hands over at once. */
const GROUP = 32;

/**
 * Starts a program of the bench as a second thread, and returns a function that hands it something: a body, a note,
 * and a callback for the outcome. What is handed over in one turn of the event loop goes as one message, its bodies
 * as one block.
 */
export function startWriter(program, workerData) {
  const writer = new Worker(fileURLToPath(new URL(program, import.meta.url)), { workerData });
  const sent = [];
  let waiting = [];
  writer.on('message', (outcomes) => {
    for (const outcome of outcomes) sent.shift()(outcome);
  });
  const send = () => {
    if (waiting.length === 0) return;
    const bodies = waiting.map(({ body }) => body);
    const block = new Uint8Array(Buffer.concat(bodies));
    const [sizes, notes] = [bodies.map((body) => body.length), waiting.map(({ note }) => note)];
    for (const { done } of waiting) sent.push(done);
    waiting = [];
    writer.postMessage({ block, sizes, notes }, [block.buffer]);
  };
  return (body, note, done) => {
    waiting.push({ body, note, done });
    if (waiting.length === 1) setImmediate(send);
    else if (waiting.length >= GROUP) send();
  };
}

/**
 * The other side: everything that arrived while the last group was on its way to the disk is the next group. `commit`
 * returns the outcome of each, in order, once all are durable. Up to `atOnce` groups may be on their way.
 */
export function takeGroups(commit, atOnce = 1) {
  let [waiting, running, isPlanned] = [[], 0, false];
  const take = () => {
    if (isPlanned || running >= atOnce || waiting.length === 0) return;
    isPlanned = true;
    setImmediate(run);
  };
  const run = async () => {
    const items = waiting;
    [waiting, isPlanned] = [[], false];
    running++;
    parentPort.postMessage(await commit(items));
    running--;
    take();
  };
  parentPort.on('message', (group) => {
    waiting.push(...unpack(group));
    take();
  });
}

function unpack({ block, sizes, notes }) {
  let at = 0;
  return sizes.map((size, i) => {
    const body = block.subarray(at, at + size);
    at += size;
    return { body, note: notes[i] };
  });
}
