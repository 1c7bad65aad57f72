import { once } from 'node:events';
import { Pool } from 'undici';

/**
 * The baseline of callbacks: undici pools in a loop, in a process of its own. Nothing is stored, signed or tried
 * again, and only receivers that answer are asked.
 */
const CONNECTIONS = 4;
const AT_ONCE = 256;

const [{ origins, total, body }] = await once(process, 'message');
const pools = origins.map((origin) => new Pool(origin, { connections: CONNECTIONS, pipelining: 1 }));
let next = 0;
await Promise.all(Array.from({ length: AT_ONCE }, sendOn));
process.exit();

async function sendOn() {
  while (next < total) {
    const n = next++;
    const headers = { 'content-type': 'application/json', 'webhook-id': String(n) };
    const answer = await pools[n % pools.length].request({ path: '/', method: 'POST', headers, body });
    await answer.body.dump();
  }
}
