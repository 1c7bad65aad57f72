import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Pool } from 'undici';
import { startWriter } from './thread.mjs';

/**
 * The least that sends callbacks and records them: jobs are claimed a page at a time, each request is opened, signed
 * once and sent by an undici pool, and a job counts as under way until its record is on disk. Claims and records are
 * written together by a second thread (`callbacks-rows.mjs`). Nobody is identified, and nothing is retried.
 */
const CONNECTIONS = 4;
const PAGE = 128;
const AT_ONCE = 4 * PAGE;
const SECRET = 'the secret of the receivers';
const NOTHING = Buffer.alloc(0);

const [{ file, origins, total }] = await once(process, 'message');
const pools = new Map(origins.map((origin) => [origin, new Pool(origin, { connections: CONNECTIONS })]));
const handOver = startWriter('./callbacks-rows.mjs', { file, origins, total });
const write = (note) => new Promise((resolve) => handOver(NOTHING, note, resolve));

let recorded = 0;
await Promise.all(Array.from({ length: AT_ONCE / PAGE }, sendPages));
if (recorded !== total) throw new Error(`${recorded} of ${total} callbacks are on record`);
process.exit();

async function sendPages() {
  for (;;) {
    const jobs = await write({ claim: PAGE });
    if (jobs.length === 0) return;
    await Promise.all(jobs.map(sendAndRecord));
  }
}

async function sendAndRecord({ job, id, origin, request }) {
  const started = performance.now();
  const { url, body } = JSON.parse(request);
  const status = await send(pools.get(origin), new URL(url).pathname, id, body);
  if (status !== 204) throw new Error(`a callback was answered with ${status}`);
  await write({ record: { job, id, status, durationMs: Math.round(performance.now() - started) } });
  recorded++;
}

async function send(pool, path, id, body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac}`,
  };
  const answer = await pool.request({ path, method: 'POST', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}
