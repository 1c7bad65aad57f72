import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { startWriter } from './thread.mjs';

/**
 * The least that a program must do to take in what we do, as durably: `node:http`, `JSON.parse`, one hash, one seal
 * and the same rows in the same tables with the same indexes, a group at a time, on a second thread. None of our
 * rules: nothing is checked, identified, refused or announced. Its rate here is the limit of what ours could be. Run
 * with `{ writer, secret }` and the options of the writer (`intake-sqlite.mjs`, `intake-postgres.mjs`).
 */
const { writer, secret, ...store } = JSON.parse(process.argv[2]);
const ANSWER = { status: 'received', created_at: '2026-11-15T09:00:00.000000Z' };
const handOver = startWriter(writer, store);

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (JSON.parse(body) === null) throw new Error('nobody sends that');
    if (secret !== undefined) createHmac('sha256', secret).update(body).digest();
    const hash = createHash('sha256').update(body).digest('hex');
    handOver(body, hash, (id) => answer(response, id));
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());

function answer(response, id) {
  response.statusCode = 201;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ delivery_id: id, ...ANSWER }));
}
