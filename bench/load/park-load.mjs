import { connect } from 'node:net';

/**
 * Many that wait, in a process of its own. Told to `open`, it parks so many requests and says when all are sent; told to
 * `collect`, it says how long after that moment the last answer was there.
 */
const sockets = [];
let left = 0;
let startedAt = 0;

process.on('message', async (message) => {
  if (message.open !== undefined) await open(message.open);
  else startedAt = performance.now();
});

async function open({ port, count, path, headers }) {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  left = count;
  for (let n = 0; n < count; n += 200) {
    await Promise.all(Array.from({ length: Math.min(200, count - n) }, () => park(port, bytes)));
  }
  process.send({ parked: count });
}

function park(port, bytes) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.once('error', reject);
    socket.once('connect', () => socket.write(bytes, () => resolve()));
    socket.once('data', answered);
  });
}

function answered() {
  left -= 1;
  if (left > 0) return;
  process.send({ millis: performance.now() - startedAt });
  for (const socket of sockets) socket.destroy();
  process.disconnect();
}
