import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../config.ts';
import { addAgent, foundSpace } from '../core/agents/found.ts';
import type { Identity } from '../core/agents/key.ts';
import { accept, type Submission } from '../core/deliveries/accept.ts';
import { sweep } from '../core/deliveries/sweep.ts';
import { readInbox, readPieces } from '../core/events/inbox/inbox.ts';
import { type Arriving, ingest, Subscriptions } from '../core/events/ingest.ts';
import { readTask } from '../core/events/reading/task.ts';
import { subscribeToEverything } from '../core/events/subscriptions/subscribe.ts';
import { orThrow } from '../core/faults.ts';
import type { Job } from '../core/sending/job.ts';
import { claim } from '../core/sending/lease-jobs.ts';
import { settleJobs } from '../core/sending/settle-jobs.ts';
import { findTask } from '../core/tasks/callers/place.ts';
import { send } from '../core/tasks/open.ts';
import { type Report, report } from '../core/tasks/report.ts';
import type { TaskRecord } from '../core/tasks/task.ts';
import { type Ground, openGround } from '../main.ts';
import { toDraft } from '../protocols/wake/mapping.ts';
import { anEvent } from '../testing/akep/akep.ts';
import { sampleDelivery, temporaryFolder } from '../testing/world.ts';
import { Database, type Prepared } from './sqlite/driver.ts';
import { MasterVault } from './vault.ts';

/**
 * The regression guard of the bench: counts that are the same on every machine. A figure that grows here makes every
 * delivery slower; change it only together with a measurement (docs/performance.md).
 */
const AGENT = 'agent-01';
const KEY = `wk_test_${'A'.repeat(32)}`;
const HEADS = 3; // ledger, agent, bucket
const TRANSACTION = 2; // begin, commit

const folder = temporaryFolder();
const executed: string[] = [];
let ground: Ground;
let identity: Identity;

beforeAll(async () => {
  const prepare = Database.prototype.prepare;
  const value = function (this: Database, sql: string) {
    return counted(prepare.call(this, sql), sql);
  };
  Object.defineProperty(Database.prototype, 'prepare', { value, configurable: true });
  const env = { LANTERNROOM_RATE_TEST: '100000/100000' };
  ground = await openGround(readConfig({ flags: { data: folder }, env }));
  await ground.data.local?.store.listen(); // as a server does; a command also writes its news
  const { room } = ground;
  const space = orThrow(await foundSpace(room, 'home', 'test'));
  orThrow(await addAgent(room, { space: space.id, id: AGENT, tier: 'test', key: KEY }, 'test'));
  const found = await room.store.directory.identityByDigest(room.vault.sha256(KEY));
  if (found === null) throw new Error('the key is not known');
  identity = { ...found, accepted: true };
  await deliver(1); // makes the head rows, and proves the durability once
});

afterAll(async () => {
  Reflect.deleteProperty(Database.prototype, 'prepare');
  await ground.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Notes what the driver is asked for, at the last place that is ours to look at. */
function counted(query: Prepared, sql: string): Prepared {
  for (const name of ['run', 'get', 'all'] as const) {
    const original = query[name].bind(query) as (...params: unknown[]) => unknown;
    const value = (...params: unknown[]) => {
      executed.push(sql);
      return original(...params);
    };
    Object.defineProperty(query, name, { value });
  }
  return query;
}

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  executed.length = 0;
  await work();
  return [...executed];
}

function submission(): Submission {
  const content = sampleDelivery(AGENT) as Submission['content'];
  const raw = Buffer.from(JSON.stringify(content));
  return { identity, draft: toDraft(content, identity), content, raw, idempotencyKey: null };
}

async function deliver(count: number, over: Partial<Submission> = {}): Promise<void> {
  const all = Array.from({ length: count }, () => ({ ...submission(), ...over }));
  for (const done of await Promise.all(all.map((one) => accept(ground.room, one)))) orThrow(done);
}

const matching = (statements: readonly string[], pattern: RegExp) =>
  statements.filter((sql) => pattern.test(sql)).length;

test('[D26] one delivery is one transaction of two inserts, and its three heads are read and written once', async () => {
  const statements = await statementsOf(() => deliver(1));
  expect(matching(statements, /^begin immediate$/)).toBe(1);
  expect(matching(statements, /^insert into "(deliveries|ledger)"/)).toBe(2);
  expect(matching(statements, /"heads"/)).toBe(2 * HEADS);
  expect(statements).toHaveLength(TRANSACTION + 2 * HEADS + 2);
});

test.each([2, 64, 256])('[D26] %i deliveries that arrive together share one transaction', async (count) => {
  const statements = await statementsOf(() => deliver(count));
  expect(matching(statements, /^commit$/)).toBe(1);
  expect(statements).toHaveLength(TRANSACTION + 2 * HEADS + 2 * count);
});

test('[D26] deliveries beyond the largest batch share the next transaction', async () => {
  const statements = await statementsOf(() => deliver(257));
  expect(matching(statements, /^commit$/)).toBe(2);
});

test('[W12] an Idempotency-Key costs one look and one insert more', async () => {
  const statements = await statementsOf(() => deliver(1, { idempotencyKey: 'a key' }));
  expect(matching(statements, /^select .*"idempotency"/)).toBe(1);
  expect(matching(statements, /^insert into "idempotency"/)).toBe(1);
  expect(statements).toHaveLength(TRANSACTION + 2 * HEADS + 4);
});

test('[D26] the first delivery of an agent that nobody has met costs one look more, those after it none', async () => {
  const unmet = { identity: { ...identity, accepted: false } };
  const first = await statementsOf(() => deliver(1, unmet));
  expect(matching(first, /^select .*"agents"/)).toBe(1);
  expect(first).toHaveLength(TRANSACTION + 2 * HEADS + 3);
  const next = await statementsOf(() => deliver(1, unmet));
  expect(next).toHaveLength(TRANSACTION + 2 * HEADS + 2);
});

test('[W1] a key that was just seen is not looked up again', async () => {
  const { directory } = ground.room.store;
  const digest = ground.room.vault.sha256(KEY);
  await directory.identityByDigest(digest);
  const statements = await statementsOf(async () => {
    for (let i = 0; i < 10; i++) await directory.identityByDigest(digest);
  });
  expect(matching(statements, /"keys"/)).toBe(0);
});

async function sendTasks(count: number): Promise<TaskRecord[]> {
  const place = { space: identity.key.space, agent: AGENT, caller: 'agent:other' };
  const all = Array.from({ length: count }, (_, i) => {
    const message = { messageId: `m${i}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const retryKey = `key:${ground.room.ids.uuid()}`;
    const ids = { taskId: null, contextId: null, network: null };
    return send(ground.room, { place, dialect: '1.0', message, ...ids, retryKey, awaitFor: 0, push: null });
  });
  return (await Promise.all(all)).map((sent) => orThrow(sent).task);
}

type Said = {
  [K in Report['kind']]: Omit<
    Extract<Report, { kind: K }>,
    'space' | 'agent' | 'tier' | 'frameId' | 'taskId'
  >;
};

async function reportOn(tasks: readonly TaskRecord[], said: Said[Report['kind']]): Promise<void> {
  const from = { agent: AGENT, tier: 'test' as const };
  const all = tasks.map(({ space, id }) =>
    report(ground.room, { space, ...from, frameId: ground.room.ids.uuid(), taskId: id, ...said }),
  );
  for (const done of await Promise.all(all)) orThrow(done);
}

test.each([1, 64])('[A6] %i messages are one transaction: four inserts and two looks each', async (count) => {
  const statements = await statementsOf(() => sendTasks(count));
  expect(matching(statements, /^commit$/)).toBe(1);
  expect(matching(statements, /^insert into "(tasks|task_log|frames|ledger)"/)).toBe(4 * count);
  expect(matching(statements, /^select .*"(task_log|links)"/)).toBe(2 * count);
  const heads = 2; // ledger, frames
  expect(statements).toHaveLength(TRANSACTION + 2 * heads + 6 * count);
});

test.each([1, 64])(
  '[A13] %i tasks that end are one transaction: two looks, three writes each',
  async (count) => {
    const tasks = await sendTasks(count);
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'done' }] };
    const statements = await statementsOf(() =>
      reportOn(tasks, { kind: 'state', state: 'completed', message }),
    );
    expect(matching(statements, /^commit$/)).toBe(1);
    expect(matching(statements, /^insert into "(task_log|ledger)"|^update "tasks"/)).toBe(3 * count);
    // The task, two forms of the key, and whether somebody is to be pushed to. The ledger's head is read and written once.
    expect(matching(statements, /^select .*"(tasks|task_log|pushes)"/)).toBe(2 * count);
    expect(statements).toHaveLength(TRANSACTION + 2 + 5 * count);
  },
);

test('[A9] a chunk costs the same, however long the artifact is', async () => {
  const [task] = await sendTasks(1);
  if (task === undefined) throw new Error('nothing was sent');
  const artifact = { artifactId: 'a', parts: [{ text: 'x'.repeat(1024) }] };
  const chunk = { kind: 'artifact' as const, artifact, append: true, lastChunk: false, content: [] };
  await reportOn([task], chunk);
  const first = await statementsOf(() => reportOn([task], chunk));
  for (let i = 0; i < 200; i++) await reportOn([task], chunk);
  expect(await statementsOf(() => reportOn([task], chunk))).toEqual(first);
  expect(first).toHaveLength(TRANSACTION + 6);
});

test('[A6] a task that is asked for again and has not changed is not read again', async () => {
  const { room } = ground;
  const [task] = await sendTasks(1);
  if (task === undefined) throw new Error('nothing was sent');
  const place = { space: task.space, agent: AGENT, caller: 'agent:other' };
  const look = () => room.store.read(task.space, (tx) => findTask(tx, place, task.id));
  expect(matching(await statementsOf(look), /"tasks"/)).toBe(1);
  expect(matching(await statementsOf(look), /"tasks"/)).toBe(0);
});

test('[A13] 64 tasks that end put few pages into the log, however many frames there were before', async () => {
  for (let i = 0; i < 20; i++) {
    const earlier = await sendTasks(64);
    await reportOn(earlier, { kind: 'state', state: 'completed', message: null });
  }
  const tasks = await sendTasks(64);
  const pages = await pagesOf(() => reportOn(tasks, { kind: 'state', state: 'completed', message: null }));
  // A key that is random all through would add one for nearly every frame.
  expect(pages).toBeLessThan(40);
});

test('[W18] a sweep asks the same few questions, however long the history is', async () => {
  const { room } = ground;
  const lookAtThree = async () => {
    const query = {
      agent: AGENT,
      statuses: ['pending', 'approved'] as const,
      since: room.clock.now(),
      limit: 50,
    };
    await deliver(3);
    return statementsOf(() => sweep(room, identity.key.space, query));
  };
  const before = await lookAtThree();
  await deliver(256);
  expect(before.length).toBeLessThanOrEqual(2 * 4);
  expect(await lookAtThree()).toEqual(before);
});

/** How many pages this put into the log, which is emptied before. */
async function pagesOf(work: () => Promise<unknown>): Promise<number> {
  const db = new Database(ground.data.local?.file ?? '');
  const fold = (how: string) =>
    db.prepare(`pragma wal_checkpoint(${how})`).get() as { busy: number; log: number };
  // The store may be folding it at this moment.
  while (fold('truncate').busy !== 0) await new Promise((resolve) => setImmediate(resolve));
  await work();
  const { log } = fold('passive');
  db.close();
  return log;
}

test('[D26] a batch of 64 deliveries puts few pages into the log', async () => {
  const pages = await pagesOf(() => deliver(64));
  // Two kilobytes each in pages of eight, and the ends of five indexes. One over random ids would add 64 pages.
  expect(pages).toBeGreaterThan(16);
  expect(pages).toBeLessThan(36);
});

test('[W14] one look-up finds the row of an id; for a foreign id it takes two', async () => {
  const { room } = ground;
  const { space } = identity.key;
  const made = orThrow(await accept(room, submission()));
  const look = (id: string) => statementsOf(() => room.store.read(space, (tx) => tx.deliveries.get(id)));
  await look(made.id); // the first look of all reads the key of the ids as well
  expect(await look(made.id)).toHaveLength(1);
  expect(await look('2f1b7a52-5a55-4c47-9be6-0c9a7c6f0b11')).toHaveLength(2);
});

test('[D26] a plain delivery hands over no more values than it has', async () => {
  const statements = await statementsOf(() => deliver(1));
  const insert = statements.find((sql) => sql.startsWith('insert into "deliveries"')) ?? '';
  expect(insert.split('?').length - 1).toBe(22);
});

function arriving(eventId: string): Arriving {
  const source = { producer_id: 'prod_one', name: 'demo', type: 'system' };
  const envelope = anEvent({ event_id: eventId, source }) as unknown as Arriving['envelope'];
  const raw = Buffer.from(JSON.stringify(envelope));
  const producer = { space: identity.key.space, id: 'prod_one', tier: 'test' } as Arriving['producer'];
  return { producer, keyId: null, algorithm: 'v1', envelope, raw, kept: raw, rate: null };
}

let sent = 0;
const subscriptions = new Subscriptions();

async function ingestTogether(count: number): Promise<void> {
  const all = Array.from({ length: count }, () => arriving(`evt_cost_${++sent}_padding`));
  for (const done of await Promise.all(all.map((one) => ingest(ground.room, subscriptions, one))))
    orThrow(done);
}

test('[K9] events that arrive together share one transaction, and their bodies one record', async () => {
  const { room } = ground;
  await room.store.write(identity.key.space, ['subscriptions'], (tx) =>
    subscribeToEverything(room, tx, AGENT),
  );
  await ingestTogether(1); // makes the heads
  const statements = await statementsOf(() => ingestTogether(40));
  expect(matching(statements, /^commit$/)).toBe(1);
  expect(matching(statements, /^insert into "bodies"/)).toBe(1);
  // Each: one look for a duplicate, the event, its entry, its line. Together: two heads written, three read.
  expect(statements).toHaveLength(TRANSACTION + 1 + 40 * 4 + 5);
});

test('[K11] a page of an inbox opens as many records as hold its bodies, not one for each event', async () => {
  const { room } = ground;
  await ingestTogether(200);
  const opened = vi.spyOn(MasterVault.prototype, 'open');
  onTestFinished(() => opened.mockRestore());
  const reader = { space: identity.key.space, agent: AGENT };
  const statements = await statementsOf(async () => {
    const read = orThrow(await readInbox(room, reader, null, { limit: 1000 }));
    expect(read.items.length).toBe(sent);
  });
  const kilobytes = Math.ceil((sent * arriving('x').raw.length) / 1024);
  expect(opened.mock.calls.length).toBeLessThanOrEqual(Math.ceil(kilobytes / 64) + 4);
  expect(statements.length).toBeLessThanOrEqual(opened.mock.calls.length + Math.ceil(sent / 100) + 1);
});

test('[K11] a page that is passed on is one statement for each record, and two', async () => {
  const { room } = ground;
  await ingestTogether(200);
  const reader = { space: identity.key.space, agent: AGENT };
  const statements = await statementsOf(async () => {
    const read = orThrow(await readPieces(room, reader, null, 1000));
    expect([read.after, read.hasMore]).toEqual([sent, false]);
  });
  const records = matching(statements, /"bodies"/);
  expect(records).toBeLessThanOrEqual(Math.ceil((sent * arriving('x').raw.length) / 1024 / 64) + 8);
  expect(statements).toHaveLength(records + 2);
});

test('[K16] a task is one look at its events and one at the tasks, and opens no body without an artifact', async () => {
  const { room } = ground;
  const reader = { space: identity.key.space, agent: AGENT };
  await ingestTogether(20);
  const opened = vi.spyOn(MasterVault.prototype, 'open');
  onTestFinished(() => opened.mockRestore());
  const { task_id } = arriving('x').envelope.subject;
  const statements = await statementsOf(async () => {
    const view = orThrow(await readTask(room, reader, String(task_id)));
    expect(view.events.length).toBeGreaterThanOrEqual(20);
  });
  expect(matching(statements, /"entries"/)).toBe(1);
  expect(matching(statements, /^select/)).toBe(2);
  expect(opened).not.toHaveBeenCalled();
});

async function queueCallbacks(count: number): Promise<Job[]> {
  const { room } = ground;
  const { space } = identity.key;
  const jobs = Array.from({ length: count }, (): Job => {
    const now = room.clock.now();
    const about = { space, agent: AGENT, delivery: room.ids.uuid(), origin: 'https://example.com' };
    const id = room.ids.timed(now);
    const fresh = { attempts: 0, fence: 0, leasedUntil: null };
    return { ...about, id, kind: 'callback', state: 'due', dueAt: now, createdAt: now, ...fresh };
  });
  const request = { url: 'https://example.com/hook', body: 'x'.repeat(700) };
  await room.store.write(space, [], async (tx) => {
    for (const job of jobs) await tx.jobs.insert(job, request);
  });
  return jobs;
}

test('[W22] callbacks that end together share a transaction, and put few pages into the log', async () => {
  // A long record: in a short one, even random places would lie close together.
  for (const batch of [256, 256, 256, 256]) await settleAll(await claimAll(await queueCallbacks(batch)));
  const claimed = await claimAll(await queueCallbacks(64));
  let statements: string[] = [];
  const pages = await pagesOf(async () => {
    statements = await statementsOf(() => settleAll(claimed));
  });
  expect(matching(statements, /^commit$/)).toBe(1);
  // Each: the job, the attempt, its line. Together: the ledger's head, read and written.
  expect(statements).toHaveLength(TRANSACTION + 2 + 64 * 3);
  expect(pages).toBeGreaterThan(8);
  expect(pages).toBeLessThan(45);
});

async function claimAll(jobs: readonly Job[]): Promise<Job[]> {
  const claimed = await claim(ground.room, jobs[0]?.space ?? '', jobs);
  return claimed.map(({ job }) => job);
}

function settleAll(jobs: readonly Job[]): Promise<boolean[]> {
  const { room } = ground;
  const ended = { durationMs: 3, outcome: 'answered', status: 204, retryAfterSeconds: null };
  const page = jobs.map((job) => ({ job, ended: { ...ended, at: room.clock.now() } }));
  return settleJobs(room, { space: jobs[0]?.space ?? '', page });
}
