import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../config.ts';
import { HOUR } from '../core/time.ts';
import { openGround, startServer } from '../main.ts';
import { DATABASE_FILE } from '../storage/folder/data-folder.ts';
import { MIGRATIONS } from '../storage/migrations.ts';
import { inPostgres } from '../storage/postgres/migrate.ts';
import { Database } from '../storage/sqlite/driver.ts';
import { freshFolder } from '../testing/folders.ts';
import { bareDatabase, onDatabase } from '../testing/postgres/postgres.ts';
import { ManualClock } from '../testing/world.ts';

type Value = string | number | null | { base64: string };
type Names = 'approved' | 'rejected' | 'redirected' | 'pending' | 'held' | 'undone' | 'withdrawn';

/** The rows that a version with an earlier schema left behind, and what it had answered by then. */
type Fixture = {
  version: number;
  secret: string;
  key: string;
  token: string;
  expected: {
    ids: Record<Names, string>;
    polled: Record<Names, string>;
    swept: string;
    inbox: string;
    cursor: string;
    wait: string;
    task: string;
    taskText: string;
  };
  tables: Record<string, Record<string, Value>[]>;
};

const fixture = JSON.parse(
  readFileSync(new URL('../testing/fixtures/schema-6.json', import.meta.url), 'utf8'),
) as Fixture;

const isPostgres = process.env.LANTERNROOM_TEST_STORE === 'postgres';
const steps = MIGRATIONS.slice(0, fixture.version).flat();
const bound = (value: Value) =>
  typeof value === 'object' && value !== null ? Buffer.from(value.base64, 'base64') : value;

function inserts(place: (n: number) => string): { sql: string; values: unknown[] }[] {
  return Object.entries(fixture.tables).flatMap(([table, rows]) =>
    rows.map((row) => ({
      sql: `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.keys(row).map((_, n) => place(n + 1))})`,
      values: Object.values(row).map(bound),
    })),
  );
}

function fillSqlite(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const db = new Database(join(folder, DATABASE_FILE));
  for (const step of steps) db.exec(step.replaceAll('{bytes}', 'blob'));
  for (const { sql, values } of inserts(() => '?')) db.prepare(sql).run(...values);
  db.exec(`pragma user_version = ${fixture.version}; pragma application_id = 0x4c54524e`);
  db.close();
}

async function fillPostgres(): Promise<string> {
  const url = await bareDatabase();
  await onDatabase(url, 'create table lanternroom_schema (version bigint not null)');
  await onDatabase(url, `insert into lanternroom_schema (version) values (${fixture.version})`);
  for (const step of steps) await onDatabase(url, inPostgres(step));
  for (const { sql, values } of inserts((n) => `$${n}`)) await onDatabase(url, sql, values);
  return url;
}

/** The program of today on the data of then, an hour later. */
async function upgraded() {
  const folder = freshFolder();
  const env: Record<string, string> = { LANTERNROOM_LOG: 'silent', LANTERNROOM_SECRET: fixture.secret };
  if (isPostgres) env.DATABASE_URL = await fillPostgres();
  else fillSqlite(folder);
  const clock = new ManualClock(Date.UTC(2026, 10, 15, 16) * 1000);
  const config = readConfig({ flags: { port: '0', data: folder }, env });
  const running = await startServer(config, await openGround(config, clock));
  onTestFinished(() => running.stop());
  const ask = async (path: string, key = fixture.key, body?: unknown) => {
    const response = await fetch(running.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'a2a-version': '1.0',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) as Record<string, unknown> };
  };
  return { running, clock, ask };
}

test('[D25] data of an earlier schema tells the same bytes after the upgrade, and goes on', async () => {
  const { expected, token } = fixture;
  const { ids } = expected;
  expect(MIGRATIONS.length).toBeGreaterThan(fixture.version);
  const { running, clock, ask } = await upgraded();

  for (const name of Object.keys(ids) as Names[])
    expect((await ask(`/wake/v1/response/${ids[name]}`)).text).toBe(expected.polled[name]);
  expect((await ask('/wake/v1/responses')).text).toBe(expected.swept);
  expect((await ask('/akep/events?limit=100')).text).toBe(expected.inbox);
  const behind = await ask(`/akep/events?limit=100&cursor=${expected.cursor}`);
  expect(behind.json.events).toHaveLength(5);
  expect((await ask('/akep/waits')).text).toContain(expected.wait);
  const get = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: expected.task } };
  expect((await ask('/@home/agent-01', fixture.key, get)).text).toBe(expected.taskText);
  expect((await ask('/desk/audit/verify', token)).json).toMatchObject({ ok: true });

  // The decision that was held then takes effect now, and what was open can be decided.
  clock.turn(2 * HOUR);
  await running.ticker.tick();
  expect((await ask(`/wake/v1/response/${ids.held}`)).json).toMatchObject({ feedback: 'feedback on held' });
  const shown = await ask(`/desk/deliveries/${ids.pending}`, token);
  expect(shown.json.details).toEqual({ name: 'pending', text: 'ä€😀', n: 1.5 });
  const answer = { status: 'approved', feedback: 'later', content_sha256: shown.json.content_sha256 };
  expect((await ask(`/desk/deliveries/${ids.pending}/decision`, token, answer)).status).toBe(200);
  const fresh = {
    agent_id: 'agent-01',
    provider: 'claude',
    type: 'question',
    headline: 'New',
    summary: 'New.',
  };
  expect((await ask('/wake/v1/deliver', fixture.key, { ...fresh, details: null })).status).toBe(201);
  expect((await ask('/desk/audit/verify', token)).json).toMatchObject({ ok: true });
});
