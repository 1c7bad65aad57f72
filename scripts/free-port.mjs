import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const LOWEST = 12_000;
/** Processes that search at the same time search in different parts, so that none gets what another is about to take. */
const PARTS = 64;
let next = randomInt(1_000);

/**
 * A port that nobody listens on, below the range from which the system assigns ports: a server that restarts on it
 * never finds it taken by an outgoing connection.
 */
export async function freePort() {
  const size = Math.floor((firstEphemeral() - LOWEST) / PARTS);
  for (;;) {
    const port = size > 0 ? LOWEST + (process.pid % PARTS) * size + (next++ % size) : 0;
    const found = await probe(port);
    if (found !== undefined) return found;
  }
}

function firstEphemeral() {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    return 32_768; // not Linux; the others begin there or higher
  }
}

function probe(port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(port, '127.0.0.1', () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });
}
