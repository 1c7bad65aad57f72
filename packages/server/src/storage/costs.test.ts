import { rmSync } from 'node:fs';
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { addAgent, foundSpace } from '../core/agents/found.ts';
import type { Identity } from '../core/agents/key.ts';
import { accept, type Submission } from '../core/deliveries/accept.ts';
import { sweep } from '../core/deliveries/sweep.ts';
import { orThrow } from '../core/faults.ts';
import { type Ground, openGround } from '../main.ts';
import { toDraft } from '../protocols/wake/mapping.ts';
import { sampleDelivery, temporaryFolder } from '../testing/world.ts';

/**
 * The regression guard of the bench: counts that are the same on every machine. A figure that grows here makes every
 * delivery slower; change it only together with a measurement (docs/performance.md).
 */
const AGENT = 'agent-01';
const KEY = `wk_test_${'A'.repeat(32)}`;
const HEADS = 3; // ledger, agent, bucket
const TRANSACTION = 2; // begin, commit

const folder = temporaryFolder();
const prepare = Database.prototype.prepare;
const executed: string[] = [];
let ground: Ground;
let identity: Identity;

beforeAll(async () => {
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    return counted(prepare.call(this, sql), sql);
  } as typeof prepare;
  const env = { LANTERNROOM_RATE_TEST: '100000/100000' };
  ground = await openGround(readConfig({ flags: { data: folder }, env }));
  const { room } = ground;
  const space = orThrow(await foundSpace(room, 'home', 'test'));
  orThrow(await addAgent(room, { space: space.id, id: AGENT, tier: 'test', key: KEY }, 'test'));
  const found = await room.store.directory.identityByDigest(room.vault.sha256(KEY));
  if (found === null) throw new Error('the key is not known');
  identity = { ...found, accepted: true };
  await deliver(1); // makes the head rows, and proves the durability once
});

afterAll(async () => {
  Database.prototype.prepare = prepare;
  await ground.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Notes what the driver is asked for, at the last place that is ours to look at. */
function counted(query: Database.Statement, sql: string): Database.Statement {
  for (const name of ['run', 'get', 'all'] as const) {
    const original = query[name].bind(query) as (...params: unknown[]) => never;
    query[name] = (...params: unknown[]) => {
      executed.push(sql);
      return original(...params);
    };
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

test('[D26] a delivery of an agent that nobody has met costs one look more', async () => {
  const statements = await statementsOf(() => deliver(1, { identity: { ...identity, accepted: false } }));
  expect(matching(statements, /^select .*"agents"/)).toBe(1);
  expect(statements).toHaveLength(TRANSACTION + 2 * HEADS + 3);
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

test('[D26] a batch of 64 deliveries puts few pages into the log', async () => {
  const frames = () => {
    const db = new Database(ground.data.database);
    const [row] = db.pragma('wal_checkpoint(passive)') as { log: number }[];
    db.close();
    return row?.log ?? 0;
  };
  const before = frames();
  await deliver(64);
  // Two kilobytes each in pages of eight, and the ends of six indexes. With wholly random ids it is 64 pages more.
  expect(frames() - before).toBeLessThan(50);
});
