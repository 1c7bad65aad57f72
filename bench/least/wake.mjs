import { closeSync, fdatasync, openSync, write, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

/**
 * The least between an event and whoever waits for it: `node:http` that parks one request, takes another, puts as many
 * pages on the disk as a commit of ours does, and answers both. No rule, no database: what is slow here is the machine.
 * Run with the folder for its file.
 */
const PAGES = Buffer.alloc(14 * 8192, 1);
/** Written once beforehand, as SQLite's log is: a file that grows costs its system more. */
const ROOM = 64;

const file = openSync(join(process.argv[2], 'pages'), 'w');
for (let n = 0; n < ROOM; n++) writeSync(file, PAGES);
let place = 0;
let waiting = null;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    waiting = response;
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    place = (place + 1) % ROOM;
    write(file, PAGES, 0, PAGES.length, place * PAGES.length, () =>
      fdatasync(file, (problem) => {
        if (problem !== null) throw problem;
        waiting.end(body);
        response.statusCode = 202;
        response.end('{}');
      }),
    );
  });
});

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => {
  closeSync(file);
  process.exit();
});
