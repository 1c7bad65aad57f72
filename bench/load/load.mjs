import { connect } from 'node:net';
import { signedRequests } from '../requests/signed.mjs';
import { begin, carryOn, toBytes } from './line.mjs';

/**
 * The load, in a process of its own: keep-alive sockets that each send the next request as soon as the answer to the
 * last one is whole. Requests are bytes that were made before the clock starts (signed ones, which must all differ, are
 * made from a template) and answers are only measured, never parsed, so this costs a fraction of what any server does.
 */
/** Room for one counter, in the header Idempotency-Key or in a `counted` body, written over in place. */
const COUNTER = '000000000000';

process.once('message', async (job) => {
  process.send(await run(job), () => process.disconnect()); // not before it has left
});

async function run(job) {
  const requests =
    job.signed === undefined ? job.bodies.map((body) => toTemplate(job, body)) : signedRequests(job);
  await pass(job, requests, job.warmupMs);
  return pass(job, requests, job.measureMs);
}

function toTemplate({ method, path, headers, unique, counted }, template) {
  const body = counted ? template.replace('@pid@', String(process.pid)) : template;
  const own = unique ? { 'idempotency-key': `bench-${process.pid}-${COUNTER}` } : {};
  const bytes = toBytes({ method, path, headers: { ...headers, ...own }, body });
  return { bytes, counterAt: unique || counted ? bytes.indexOf(COUNTER) : -1 };
}

let counter = 0;

function nextBytes({ bytes, counterAt, sign }) {
  if (sign !== undefined) return sign();
  if (counterAt < 0) return bytes;
  // A copy: the socket may still hold the bytes of the last request.
  const own = Buffer.from(bytes);
  own.write(String(++counter).padStart(COUNTER.length, '0'), counterAt, 'latin1');
  return own;
}

/** Sends for a while and sums up. Answers that are still under way at the end are waited for and not counted. */
async function pass(job, requests, millis) {
  const tally = { done: 0, errors: 0, bytes: 0, latencies: [], until: performance.now() + millis };
  const started = performance.now();
  await Promise.all(Array.from({ length: job.connections }, (_, i) => converse(job, requests, tally, i)));
  const seconds = Math.min(performance.now(), tally.until) - started;
  return summary(tally, seconds / 1000);
}

/** With `reconnects`, for servers that hang up after each answer: the time to connect is part of their answer. */
async function converse(job, requests, tally, first) {
  let turn = first;
  do turn = await talk(job, requests, tally, turn);
  while (job.reconnects && performance.now() < tally.until);
}

function talk({ port, expect, reconnects, restMs }, requests, tally, first) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let turn = first;
    let sentAt = performance.now();
    let answer = null;
    const send = () => {
      if (turn > first) sentAt = performance.now();
      if (sentAt >= tally.until) return socket.end();
      socket.write(nextBytes(requests[turn++ % requests.length]));
    };
    const settle = ({ status, size }) => {
      const now = performance.now();
      if (status !== expect) tally.errors++;
      else if (now < tally.until) {
        tally.done++;
        tally.bytes += size;
        tally.latencies.push(now - sentAt);
      }
      if (reconnects) socket.end();
      else if (restMs > 0) setTimeout(send, restMs);
      else send();
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      answer = answer === null ? begin(chunk) : carryOn(answer, chunk);
      if (answer.missing > 0) return;
      const whole = answer;
      answer = null;
      settle(whole);
    });
    socket.on('error', () => tally.errors++);
    socket.on('close', () => {
      // The server hung up before the time was over.
      if (!reconnects && performance.now() < tally.until) tally.errors++;
      resolve(turn);
    });
  });
}

function summary({ done, errors, bytes, latencies }, seconds) {
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { done, errors, bytes, seconds, perSecond: done / seconds, p50: at(0.5), p99: at(0.99) };
}
