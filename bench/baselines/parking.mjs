import { createServer } from 'node:http';

/** The baseline: `node:http` that parks every GET until somebody posts. */
const parked = new Set();

const server = createServer((request, response) => {
  if (request.method === 'GET') return void parked.add(response);
  request.resume().on('end', () => {
    for (const waiting of parked) waiting.end('{}');
    parked.clear();
    response.end('{}');
  });
});

server.keepAliveTimeout = 72_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
