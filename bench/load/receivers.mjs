import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * The other side of callbacks, in a process of its own: many receivers, each with an address of its own. Sent
 * `{ healthy, hung, failing }` it answers with their ports; sent `{ expect }` it answers, once that many healthy
 * requests have come, with when each one came and whose it was.
 */
const now = () => performance.timeOrigin + performance.now();
let arrivals = [];
let wanted = null;

process.on('message', async (message) => {
  if (message.expect === undefined) return process.send({ ports: await openAll(message) });
  wanted = message.expect;
  tellWhenThere();
});
process.on('disconnect', () => process.exit());

const behave = {
  healthy: (request, response) => {
    arrivals.push({ at: now(), id: request.headers['webhook-id'] });
    response.writeHead(204).end();
    tellWhenThere();
  },
  failing: (_, response) => response.writeHead(500).end(),
  hung: () => {},
};

async function openAll(counts) {
  const ports = {};
  for (const [kind, count] of Object.entries(counts)) {
    ports[kind] = [];
    for (let i = 0; i < count; i++) ports[kind].push(await open(behave[kind]));
  }
  return ports;
}

async function open(handle) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => handle(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

function tellWhenThere() {
  if (wanted === null || arrivals.length < wanted) return;
  process.send({ arrivals });
  arrivals = [];
  wanted = null;
}
