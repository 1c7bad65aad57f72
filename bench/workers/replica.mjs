import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chained, seal } from '../least/rows.mjs';
import { deliveries } from '../requests/deliveries.mjs';
import { KEY, PACKAGE, SETTINGS } from '../servers.mjs';

const built = (path) => import(pathToFileURL(join(PACKAGE, 'dist', `${path}.js`)).href);
const { readConfig } = await built('config');
const { openGround } = await built('main');
const { accept } = await built('core/deliveries/accept');
const { isFault } = await built('core/faults');
const { toDraft } = await built('protocols/wake/mapping');
const { PgLink } = await built('storage/postgres/link');

/**
 * One process of B9, without any door: it writes deliveries through the store (`store`), inserts the same rows bare (`raw`) or
 * with the least that two replicas need (`least`), or follows the ledger and looks for anything that appears behind it (`follow`).
 */
const { kind, n, folder, env, times } = JSON.parse(process.argv[2]);
const AT_ONCE = 64;
/** In each replica of ours, so that a transaction may hold as many. */
const UNDER_WAY = 2 * AT_ONCE;
const config = readConfig({
  flags: { data: join(folder, `replica-${kind}-${n}`) },
  env: { ...SETTINGS, ...env },
});

async function throughStore() {
  const ground = await openGround(config);
  const { room } = ground;
  const identity = await room.store.directory.identityByDigest(room.vault.sha256(KEY));
  const samples = deliveries(AT_ONCE).map((content) => ({
    identity,
    content,
    draft: toDraft(content, identity),
    raw: Buffer.from(JSON.stringify(content)),
    idempotencyKey: null,
  }));
  // Each sends its next as soon as its last is on disk, as connections do.
  const result = await measured(UNDER_WAY, async (i) => {
    const accepted = await accept(room, samples[i % AT_ONCE]);
    if (isFault(accepted)) throw accepted;
    return 1;
  });
  await ground.stop();
  return result;
}

async function openRaw() {
  const link = await PgLink.open(env.DATABASE_URL, () => {});
  const tables = ['deliveries', 'ledger', 'heads'].map(
    (table) => `create table if not exists raw_${table} (like ${table} including all)`,
  );
  // One after the other: two that make the same table at once stand in each other's way.
  await link.exec(['select pg_advisory_xact_lock(9)', ...tables, SHARED_HEAD].join('; '));
  return link;
}

async function bareInserts() {
  const link = await openRaw();
  const space = `raw_${process.pid}`;
  const body = Buffer.alloc(1024, 'x');
  let seq = 0;
  const result = await measured(1, async () => {
    const rows = Array.from({ length: AT_ONCE }, () => ++seq);
    await Promise.all([
      link.exec('begin'),
      insert(
        link,
        'deliveries',
        rows.map((s) => delivery(space, s, body)),
      ),
      insert(
        link,
        'ledger',
        rows.map((s) => line(space, s)),
      ),
      link.exec('commit'),
    ]);
    return AT_ONCE;
  });
  await link.close();
  return result;
}

/** The head of a space that both replicas write to. */
const SHARED_HEAD = `insert into raw_heads (space_id, name, n, at, text, seal) values ('shared', 'ledger', 0, 0, '', '')
  on conflict do nothing`;
const LOCK = "select n, text from raw_heads where space_id = 'shared' and name = 'ledger' for update";
const MOVE = "update raw_heads set n = $1, text = $2 where space_id = 'shared' and name = 'ledger'";

/**
 * The least that two replicas of one space cannot do without: bodies are sealed, lines are hashed in one chain, and each
 * transaction locks the head that says where both of them go on. Rows are copied, and the next lock is asked for behind the
 * last commit.
 */
async function leastInserts() {
  const link = await openRaw();
  const key = createSecretKey(randomBytes(32));
  const body = Buffer.alloc(1024, 'x');
  const lock = () => Promise.all([link.exec('begin'), link.query(LOCK, [])]);
  let locked = lock();
  const result = await measured(1, async () => {
    const bodies = Array.from({ length: UNDER_WAY }, () => seal(key, body));
    const [, { rows: heads }] = await locked;
    let [{ n: seq, text: last }] = heads;
    const rows = bodies.map((sealed) => delivery('shared', ++seq, sealed));
    const lines = rows.map((row) => {
      const plain = line('shared', row.seq);
      last = chained(last, `${row.delivery_id}${plain.data}`);
      return { ...plain, subject: row.delivery_id, hash: last };
    });
    const written = [
      copy(link, 'deliveries', rows),
      copy(link, 'ledger', lines),
      link.query(MOVE, [seq, last]),
      link.exec('commit'),
    ];
    locked = lock();
    await Promise.all(written);
    return UNDER_WAY;
  });
  await locked;
  await link.close();
  return result;
}

const copy = (link, table, rows) => link.copy({ table: `raw_${table}`, columns: Object.keys(rows[0]) }, rows);

function insert(link, table, rows) {
  const columns = Object.keys(rows[0]);
  let place = 0;
  const values = rows.map(() => `(${columns.map(() => `$${++place}`).join(', ')})`).join(', ');
  const sql = `insert into raw_${table} (${columns.join(', ')}) values ${values}`;
  return link.query(
    sql,
    rows.flatMap((row) => Object.values(row)),
  );
}

const delivery = (space_id, seq, body) => ({
  space_id,
  seq,
  delivery_id: crypto.randomUUID(),
  agent_id: 'bench-agent',
  tier: 'test',
  provider: 'bench',
  type: 'output',
  headline: `Drafted the letter to customer ${seq} about the delayed order`,
  summary: 'The letter explains the delay, names the new date and offers a refund of the shipping costs.',
  content_sha256: 'a'.repeat(64),
  created_at: Date.now() * 1000 + seq,
  changed_at: Date.now() * 1000 + seq,
  status: 'pending',
  state: 'pending',
  section: 'while_away',
  section_at: -seq,
  revision: 1,
  task_id: `task-${seq}`,
  body,
});

const line = (space_id, seq) => ({
  space_id,
  seq,
  at: Date.now() * 1000,
  actor: 'agent:bench-agent',
  action: 'delivery.accepted',
  subject: crypto.randomUUID(),
  data: JSON.stringify({ key: 'key_0123456789', type: 'output', content_sha256: 'a'.repeat(64) }),
  hash: 'b'.repeat(64),
});

/** So many loops beside each other; counts what was done after the warm-up. */
async function measured(loops, once) {
  const from = performance.now() + times.warmupMs;
  const until = from + times.measureMs;
  let done = 0;
  await Promise.all(
    Array.from({ length: loops }, async (_, i) => {
      while (performance.now() < until) {
        const count = await once(i);
        const now = performance.now();
        if (now >= from && now < until) done += count;
      }
    }),
  );
  return { perSecond: done / (times.measureMs / 1000) };
}

const BEHIND = `select count(*)::int as lines, max(seq)::int as last from ledger where space_id = $1 and seq > $2`;
const LOOK_EVERY_MS = 20;

/**
 * The ledger's numbers have no gaps, so what is seen behind a place must be exactly what lies up to the last of it, at every
 * look. Counted by the database: a checker that reads every line would take the processor from those it watches.
 */
async function follow() {
  const link = await PgLink.open(env.DATABASE_URL, () => {});
  const { rows } = await link.query(
    "select space_id, n from heads where name = 'ledger' order by n desc limit 1",
    [],
  );
  const [{ space_id: space, n }] = rows;
  let [cursor, broken] = [n, null];
  const until = performance.now() + times.warmupMs + times.measureMs;
  while (performance.now() < until && broken === null) {
    const [{ lines, last }] = (await link.query(BEHIND, [space, cursor])).rows;
    if (lines > 0 && last - cursor !== lines) broken = `${lines} lines between ${cursor} and ${last}`;
    cursor = last ?? cursor;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  await link.close();
  return { broken };
}

const work = { store: throughStore, raw: bareInserts, least: leastInserts, follow };
process.send(await work[kind](), () => process.disconnect()); // not before it has left
