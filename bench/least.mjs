import { createCipheriv, createHash, createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';

/**
 * The least that a program must do to take in what we do, as durable: `node:http`, `JSON.parse`, one hash, one seal and the
 * same rows in the same tables with the same indices, a group at a time, by a second thread. No rule of ours: nothing is
 * checked, nobody is known, nothing is refused, nothing is told. What it reaches here is the limit of what we could.
 * Run with `{ file, tables, secret }`; `tables` names those that get a row for each request, shaped as the last one there.
 */
if (isMainThread) serve(JSON.parse(process.argv[2]));
else store(workerData);

/** As many as our own server hands over at once. */
const GROUP = 32;
const ANSWER = { status: 'received', created_at: '2026-11-15T09:00:00.000000Z' };

function serve(options) {
  const writer = new Worker(fileURLToPath(import.meta.url), { workerData: options });
  let waiting = [];
  const sent = [];
  writer.on('message', (ids) => {
    for (const id of ids) answer(sent.shift(), id);
  });
  const send = () => {
    if (waiting.length === 0) return;
    const [bodies, hashes] = [waiting.map(({ body }) => body), waiting.map(({ hash }) => hash)];
    for (const { response } of waiting) sent.push(response);
    waiting = [];
    const block = new Uint8Array(Buffer.concat(bodies));
    writer.postMessage({ block, sizes: bodies.map((body) => body.length), hashes }, [block.buffer]);
  };
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (JSON.parse(body) === null) throw new Error('nobody sends that');
      if (options.secret !== undefined) createHmac('sha256', options.secret).update(body).digest();
      waiting.push({ body, hash: createHash('sha256').update(body).digest('hex'), response });
      if (waiting.length === 1) setImmediate(send);
      else if (waiting.length >= GROUP) send();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('disconnect', () => process.exit());
}

function answer(response, id) {
  response.statusCode = 201;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ delivery_id: id, ...ANSWER }));
}

function store({ file, tables }) {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536');
  db.exec('pragma wal_autocheckpoint = 2000');
  const inserts = tables.map((table) => insertInto(db, table));
  const key = createSecretKey(randomBytes(32));
  const [begin, commit] = [db.prepare('begin immediate'), db.prepare('commit')];
  let [last, count, waiting] = ['', 0, []];
  /** Everything that came while the last group was on its way to the disk is the next one. */
  const commitAll = () => {
    const groups = waiting;
    waiting = [];
    begin.run();
    const ids = groups.flatMap(({ block, sizes, hashes }) => {
      let at = 0;
      return sizes.map((size, i) => {
        const id = `least-${String(++count).padStart(30, '0')}`;
        const body = seal(key, block.subarray(at, at + size));
        at += size;
        last = createHash('sha256').update(`${last}${id}${hashes[i]}`).digest('hex');
        for (const insert of inserts) insert({ id, body, hash: last });
        return id;
      });
    });
    commit.run();
    parentPort.postMessage(ids);
  };
  parentPort.on('message', (group) => {
    if (waiting.push(group) === 1) setImmediate(commitAll);
  });
}

function seal(key, plain) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Rows like the last one, with a place, an id, a hash and a body of their own. What is null there is left out. */
function insertInto(db, table) {
  const row = db.prepare(`select * from ${table} order by rowid desc limit 1`).get();
  const names = Object.keys(row).filter((name) => row[name] !== null);
  const values = names.map((name) => row[name]);
  const statement = db.prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`);
  let added = 0;
  return (own) => {
    added++;
    statement.run(
      ...names.map((name, i) => own[OWN[name]] ?? (STEPS.has(name) ? values[i] + added : values[i])),
    );
  };
}

const OWN = { delivery_id: 'id', event_id: 'id', subject: 'id', hash: 'hash', body: 'body' };
const STEPS = new Set(['seq', 'place', 'event_seq', 'changed_at', 'section_at', 'created_at', 'received_at']);
