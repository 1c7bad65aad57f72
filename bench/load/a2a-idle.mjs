import { WebSocket } from 'ws';

/** Many agents that are connected and have nothing to do, in a process of its own. */
const AT_ONCE = 100;
const sockets = [];

process.on('message', async ({ url, protocol, keys }) => {
  for (let n = 0; n < keys.length; n += AT_ONCE) {
    await Promise.all(keys.slice(n, n + AT_ONCE).map((key) => open(url, protocol, key)));
  }
  process.send({ open: sockets.length });
});

function open(url, protocol, key) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocol, {
      headers: { authorization: `Bearer ${key}` },
      perMessageDeflate: false,
    });
    sockets.push(socket);
    socket.once('message', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
  });
}

process.on('disconnect', () => process.exit());
