import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { memoryOf } from '../cost.mjs';
import { AS_AGENT, getJson, sendEvent, startAkep } from '../requests/akep.mjs';
import { spread } from '../rounds.mjs';
import { remove } from '../servers.mjs';

const MANY = 10_000;
const MANY_QUICKLY = 3_000;
const KIB = 1024;
const REST_MS = 1_500;
const PARKING = fileURLToPath(new URL('../baselines/parking.mjs', import.meta.url));
const CROWD = fileURLToPath(new URL('../load/park-load.mjs', import.meta.url));

/** Readers that wait: what each of them costs, and how long it takes until all have their answer. */
export const b8 = {
  name: 'B8',
  async run({ rounds, quick }) {
    const count = quick ? MANY_QUICKLY : MANY;
    const [bare, ours] = [[], []];
    for (let n = 0; n < Math.min(rounds, 3); n++) {
      bare.push(await measureBare(count));
      ours.push(await measureOurs(count));
    }
    return toResults(count, bare, ours);
  },
};

async function measureBare(count) {
  const child = fork(PARKING, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = await once(child, 'message');
  const wake = async () =>
    void (await (await request(`http://127.0.0.1:${port}/`, { method: 'POST' })).body.dump());
  const result = await measure({ port, pid: child.pid }, { count, path: async () => '/', headers: {}, wake });
  child.kill();
  return result;
}

async function measureOurs(count) {
  const server = await startAkep();
  // A cursor at the end of the inbox: without one, the request would be answered at once.
  const path = async () => {
    const { next_cursor } = await getJson(server, '/akep/events?limit=1000');
    return `/akep/events/wait?timeout_seconds=60&cursor=${next_cursor}`;
  };
  const result = await measure(server, { count, path, headers: AS_AGENT, wake: () => sendEvent(server) });
  await server.stop();
  remove(server.folder);
  return result;
}

/** A first small crowd warms the server up, so that what is counted is what one more reader costs. */
async function measure(server, job) {
  await crowd(server, { ...job, count: 200 });
  return crowd(server, job);
}

async function crowd({ port, pid }, { count, path, headers, wake }) {
  await rest();
  const before = memoryOf(pid);
  const child = fork(CROWD);
  child.send({ open: { port, count, path: await path(), headers } });
  await once(child, 'message');
  await rest();
  const bytesEach = (memoryOf(pid) - before) / count;
  const answered = once(child, 'message');
  child.send({ collect: true });
  await wake();
  const [{ millis }] = await answered;
  return { bytesEach, millis };
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

function toResults(count, bare, ours) {
  const parked = `${count.toLocaleString('en')} parked`;
  const kib = (results) => spread(results.map((r) => r.bytesEach / KIB));
  return [
    {
      what: `${parked}, memory each`,
      unit: 'KiB',
      ours: kib(ours),
      against: 'bare node:http parking',
      baseline: kib(bare),
      ratio: spread(ours.map((r, i) => r.bytesEach / bare[i].bytesEach)),
      goal: { most: 1.5 },
    },
    {
      what: `${parked}, all woken`,
      unit: 'ms',
      ours: spread(ours.map((r) => r.millis)),
      goal: { most: 500 },
      notes: { bareMs: spread(bare.map((r) => r.millis)).median },
    },
  ];
}
