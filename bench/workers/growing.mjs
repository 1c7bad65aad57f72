import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { AKEP_ENV, SECRET } from '../requests/akep.mjs';
import { deliveries } from '../requests/deliveries.mjs';
import { events } from '../requests/signed.mjs';
import { spread } from '../rounds.mjs';
import { AGENT, KEY, OWNER, PACKAGE, SETTINGS } from '../servers.mjs';

/**
 * Grows one store to each of the wanted sizes and times what the doors do, through the core. Run by the row with
 * `{ folder, sizes, env }`, and how often each is timed; sends `[{ size, micros: { deliver, … }, bytes }]`.
 */
const built = (path) => import(pathToFileURL(join(PACKAGE, 'dist', `${path}.js`)).href);
const { readConfig } = await built('config');
const { addAgent, foundSpace } = await built('core/agents/found');
const { accept } = await built('core/deliveries/accept');
const { decide } = await built('core/deliveries/decide');
const { sweep } = await built('core/deliveries/sweep');
const { ingest, Subscriptions } = await built('core/events/ingest');
const { readInbox } = await built('core/events/inbox/inbox');
const { keepEnvironmentProducer } = await built('core/events/producers');
const { subscribeToEverything } = await built('core/events/subscriptions/subscribe');
const { orThrow } = await built('core/faults');
const { addPerson } = await built('core/people/membership/add-person');
const { record } = await built('core/room');
const { claim, giveBack } = await built('core/sending/lease-jobs');
const { readTask } = await built('core/tasks/reading/read');
const { send } = await built('core/tasks/open');
const { openGround } = await built('main');
const { toDraft } = await built('protocols/wake/mapping');

const AT_ONCE = 256;
/** As many as a busy door has in one turn of its event loop; what is written is timed in such groups. */
const GROUP = 64;
const PAGE = 100;
const CALLBACK = 'http://127.0.0.1:9/callback';

const { folder, sizes, env: also, groups = 40, looks = 300 } = JSON.parse(process.argv[2]);
const env = { ...SETTINGS, ...AKEP_ENV, ...also };
const ground = await openGround(readConfig({ flags: { data: join(folder, 'data') }, env }));
// As a server does: a command also writes its news down.
await ground.data.local?.store.listen();
const { room } = ground;
const space = orThrow(await foundSpace(room, 'home', 'bench'));
const wanted = { space: space.id, id: AGENT, tier: 'test', key: KEY, callbacks: [CALLBACK] };
orThrow(await addAgent(room, wanted, 'bench'));
const person = orThrow(
  await addPerson(room, { space: space.id, ...OWNER, name: null, role: 'owner' }, 'bench'),
);
const identity = await room.store.directory.identityByDigest(room.vault.sha256(KEY));
await keepEnvironmentProducer(room, space.id, SECRET);
await room.store.write(space.id, ['subscriptions'], (tx) => subscribeToEverything(room, tx, AGENT));
const producer = await room.store.read(space.id, (tx) => tx.producers.get('prod_environment'));
const subscriptions = new Subscriptions();
const place = { space: space.id, agent: AGENT, caller: 'agent:bench' };
const letters = deliveries(AT_ONCE).map((content) => ({ ...content, callback_webhook: CALLBACK }));
const eventSamples = events(AT_ONCE);

let size = 0;
let n = 0;
let lastTask = '';
const points = [];
for (const wantedSize of sizes) {
  await growTo(wantedSize);
  if (env.DATABASE_URL !== undefined) await tidy(env.DATABASE_URL);
  points.push({ size, micros: await timeAll(), bytes: memory() });
}
await ground.stop();
process.send(points, () => process.disconnect()); // not before it has left

/** PostgreSQL does this by itself within a minute or two, which would be in the middle of the measurement. */
async function tidy(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('vacuum (analyze)');
  await client.query('checkpoint');
  await client.end();
}

/** `size` deliveries, events and tasks, and a callback that is due for every tenth delivery. */
async function growTo(total) {
  while (size < total) {
    const count = Math.min(AT_ONCE, total - size);
    const numbers = Array.from({ length: count }, (_, i) => i);
    const ids = await Promise.all(numbers.map(deliver));
    await Promise.all(numbers.filter((i) => i % 10 === 0).map((i) => approve(ids[i], letters[i])));
    await Promise.all(numbers.map(takeEvent));
    await Promise.all(numbers.map(openTask));
    size += count;
  }
}

async function timeAll() {
  const head = await room.store.read(space.id, (tx) => tx.heads.get(`agent:${AGENT}`));
  const inbox = await room.store.read(space.id, (tx) => tx.heads.get(`inbox:${AGENT}`));
  return {
    deliver: await inGroups(deliver),
    ingest: await inGroups(takeEvent),
    'open a task': await inGroups(openTask),
    'append to the ledger': await inGroups(appendLine),
    sweep: await oneByOne(() =>
      sweep(room, space.id, { agent: AGENT, statuses: ['approved'], since: head.n - 1, limit: PAGE }),
    ),
    list: await oneByOne(async () => {
      const query = { section: 'needs_you', limit: PAGE };
      const rows = await room.store.read(space.id, (tx) => tx.deliveries.list(query));
      if (rows.length !== PAGE) throw new Error(`the list has ${rows.length} rows`);
    }),
    'replay a page': await oneByOne(() =>
      readInbox(room, { space: space.id, agent: AGENT }, Math.floor(inbox.n / 2), PAGE),
    ),
    'claim a job': await oneByOne(claimOne),
    'look up a task': await oneByOne(() => readTask(room, place, lastTask)),
  };
}

/** Resident, after everything that nobody needs is given back. */
function memory() {
  global.gc?.();
  return process.memoryUsage.rss();
}

async function deliver(i) {
  const content = letters[i];
  const raw = Buffer.from(JSON.stringify(content));
  const draft = toDraft(content, identity);
  return orThrow(await accept(room, { identity, content, draft, raw, idempotencyKey: null })).id;
}

async function approve(id, content) {
  const contentHash = room.vault.sha256(room.vault.canonical(content));
  return orThrow(
    await decide(room, person, id, { verdict: 'approved', contentHash, feedback: null, editedContent: null }),
  );
}

async function takeEvent(i) {
  const envelope = { ...eventSamples[i], event_id: `evt_grow_${++n}_padding` };
  const raw = Buffer.from(JSON.stringify(envelope));
  const arriving = { producer, keyId: null, algorithm: 'v1', envelope, raw, kept: raw, rate: null };
  return orThrow(await ingest(room, subscriptions, arriving));
}

async function openTask() {
  const message = { messageId: `m-${++n}`, role: 'ROLE_USER', parts: [{ text: 'x'.repeat(700) }] };
  const sent = orThrow(
    await send(room, {
      place,
      dialect: '1.0',
      message,
      taskId: null,
      contextId: null,
      network: null,
      retryKey: message.messageId,
      awaitFor: 0,
      push: null,
    }),
  );
  lastTask = sent.task.id;
}

function appendLine() {
  return room.store.write(space.id, ['ledger'], (tx) =>
    record(room, tx, room.clock.now(), { actor: 'bench', action: 'bench', subject: 'x', data: {} }),
  );
}

async function claimOne() {
  const [job] = await room.store.directory.jobsDue(room.clock.now(), 1, []);
  const [leased] = await claim(room, space.id, [job]);
  await giveBack(room, leased.job);
}

/** Microseconds for one of a group that is committed together. */
async function inGroups(work) {
  const times = [];
  for (let group = 0; group < groups; group++) {
    const before = performance.now();
    await Promise.all(Array.from({ length: GROUP }, (_, i) => work(i)));
    times.push(((performance.now() - before) * 1000) / GROUP);
  }
  return spread(times).median;
}

async function oneByOne(work) {
  const times = [];
  for (let look = 0; look < looks; look++) {
    const before = performance.now();
    await work();
    times.push((performance.now() - before) * 1000);
  }
  return spread(times).median;
}
