import { createServer } from 'node:http';

/** The baseline: `node:http` that reads the body and answers like a delivery, and does nothing else. */
const ANSWER = JSON.stringify({
  delivery_id: '2f1b7a52-5a55-4c47-9be6-0c9a7c6f0b11',
  status: 'received',
  created_at: '2026-11-15T09:00:00.000000Z',
});

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (Buffer.concat(chunks).length === 0) response.statusCode = 400;
    else response.statusCode = 201;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.end(ANSWER);
  });
});

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
