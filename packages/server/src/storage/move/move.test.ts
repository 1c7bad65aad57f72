import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { moveAll } from '../../cli/migrate-ends.ts';
import { readConfig } from '../../config.ts';
import { openGround } from '../../ground.ts';
import { freshFolder } from '../../testing/folders.ts';
import { bareDatabase, freshDatabase, onDatabase } from '../../testing/postgres/postgres.ts';
import { World } from '../../testing/world.ts';
import { lockFolder } from '../folder/folder-lock.ts';
import type { Progress } from './move.ts';

const SECRET = 'a master key that is long enough';

type Case = { folder: string; url: string; ids: string[]; key: string };

/** A folder with something of everything in it, and nobody on it. */
async function filled(): Promise<Case> {
  const world = await World.open({ env: { LANTERNROOM_SECRET: SECRET, LANTERNROOM_UNDO_SECONDS: '0' } });
  onTestFinished(() => rmSync(world.folder, { recursive: true, force: true }));
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await world.deliver({ headline: `Nummer ${i} – größer` }));
  await world.decide(ids[0] ?? '', { status: 'approved', feedback: 'Go.' });
  await world.running.stop();
  const url = await bareDatabase();
  return { folder: world.folder, url, ids, key: world.agent.key };
}

const config = (folder: string, url: string | null = null) =>
  readConfig({
    flags: { data: folder },
    env: { LANTERNROOM_SECRET: SECRET, ...(url === null ? {} : { DATABASE_URL: url }) },
  });

const quiet: Progress = () => {};

/** This process stands still, as with a table that takes long to compare. */
const freeze = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis);

/** In a process of its own: the move reports its progress and does not wait for anybody. */
function endConnections(url: string): void {
  const sql =
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const program = `import pg from 'pg';
    const client = new pg.Client({ connectionString: ${JSON.stringify(url)} });
    await client.connect(); await client.query(${JSON.stringify(sql)}); await client.end();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: import.meta.dirname });
}

const toServer = ({ folder, url }: Case, progress = quiet) =>
  moveAll({ folder, url, direction: 'toServer', config: config(folder), progress });

async function listed(folder: string, url: string | null): Promise<[string[], boolean]> {
  const ground = await openGround(config(folder, url));
  try {
    const [space] = await ground.room.store.directory.spaces();
    const id = space?.id ?? '';
    const lines = await ground.room.store.read(id, (tx) => tx.ledger.page(0, 1000));
    const { ok } = await ground.auditor.verify(id);
    return [lines.filter((l) => l.action === 'delivery.accepted').map((l) => l.subject), ok];
  } finally {
    await ground.stop();
  }
}

describe('migrate', () => {
  test('[R10] moves everything there and back again, with the ledger whole', async () => {
    const there = await filled();
    const moved = await toServer(there);
    expect(moved.tables.deliveries).toBe(30);
    expect(await listed(there.folder, there.url)).toEqual([there.ids, true]);
    const back = freshFolder();
    const order = { folder: back, url: there.url, config: config(back), progress: quiet };
    expect(await moveAll({ ...order, direction: 'toFolder' })).toMatchObject({ rows: moved.rows });
    expect(statSync(join(back, 'lanternroom.db')).mode & 0o777).toBe(0o600);
    expect(await listed(back, null)).toEqual([there.ids, true]);
  });

  test('[R10] the old side stays closed, to a server that starts and to one that has it open', async () => {
    const there = await filled();
    await toServer(there);
    await expect(openGround(config(there.folder))).rejects.toThrow(/was moved to postgres:.*Start there/);
    const back = freshFolder();
    const late = await openGround(config(there.folder, there.url));
    const order = { folder: back, url: there.url, config: config(back), progress: quiet };
    await expect(moveAll({ ...order, direction: 'toFolder' })).rejects.toThrow(/A server is running on/);
    await late.stop();
    await moveAll({ ...order, direction: 'toFolder' });
    await expect(openGround(config(there.folder, there.url))).rejects.toThrow(/was moved to sqlite:/);
    await expect(onDatabase(there.url, 'delete from ledger')).rejects.toThrow(
      /this data was moved to sqlite:/,
    );
  });

  test('[R10][D80] while a server runs on the folder nothing is moved, and neither side is touched', async () => {
    const { folder, url, ids } = await filled();
    const server = lockFolder(folder);
    const order = { folder, url, config: config(folder), progress: quiet };
    for (const direction of ['toServer', 'toFolder'] as const)
      await expect(moveAll({ ...order, direction })).rejects.toThrow(
        /^A server is already running on .*\. Stop it first, then move its data\.$/,
      );
    expect(await onDatabase(url, "select 1 from pg_tables where schemaname = 'public'")).toEqual([]);
    server.release();
    expect(await listed(folder, null)).toEqual([ids, true]);
  });

  test('[R10] stopped half-way it goes on, and meanwhile only the old side opens', async () => {
    const there = await filled();
    const stop: Progress = (table) => {
      if (table === 'ledger') throw new Error('pulled the plug');
    };
    await expect(toServer(there, stop)).rejects.toThrow('pulled the plug');
    const elsewhere = freshFolder();
    await expect(openGround(config(elsewhere, there.url))).rejects.toThrow(/unfinished copy of sqlite:/);
    expect(await listed(there.folder, null)).toEqual([there.ids, true]);
    const copied: string[] = [];
    const named = { ...there, folder: relative(process.cwd(), there.folder) };
    await toServer(named, (table) => copied.push(table));
    expect(copied).not.toContain('deliveries');
    expect(await listed(there.folder, there.url)).toEqual([there.ids, true]);
  });

  test('[R10] limits that the database sets for ordinary transactions do not end a move', async () => {
    const there = await filled();
    await toServer(there);
    const name = new URL(there.url).pathname.slice(1);
    await onDatabase(
      there.url,
      `alter database ${name} set idle_in_transaction_session_timeout = '200ms'; alter database ${name} set statement_timeout = '5s'`,
    );
    const back = freshFolder();
    const slowly: Progress = () => freeze(300);
    const order = { folder: back, url: there.url, config: config(back), progress: slowly };
    await moveAll({ ...order, direction: 'toFolder' });
    expect(await listed(back, null)).toEqual([there.ids, true]);
  });

  test('[R10] a connection that is lost half-way is told in one sentence that says to go on', async () => {
    const there = await filled();
    await toServer(there);
    const back = freshFolder();
    const order = { folder: back, url: there.url, config: config(back), direction: 'toFolder' as const };
    let isCut = false;
    const cut: Progress = () => {
      if (!isCut) endConnections(there.url);
      isCut = true;
    };
    await expect(moveAll({ ...order, progress: cut })).rejects.toThrow(
      /^The connection to postgres:.* was lost \(.*\)\. Run the command again: it continues where it stopped\.$/,
    );
    await moveAll({ ...order, progress: quiet });
    expect(await listed(back, null)).toEqual([there.ids, true]);
  });

  test('[R10] a move that is refused because a server runs claims nothing', async () => {
    const there = await filled();
    await toServer(there);
    const running = await openGround(config(freshFolder(), there.url));
    const back = freshFolder();
    const order = { folder: back, config: config(back), progress: quiet, direction: 'toFolder' as const };
    await expect(moveAll({ ...order, url: there.url })).rejects.toThrow(
      /^A server is running on postgres:.* Stop all replicas first; if they are stopped, a pooler still holds their connections\.$/,
    );
    await running.stop();
    // The same database by another name, as behind a pooler and without it.
    await moveAll({ ...order, url: there.url.replace('127.0.0.1', 'localhost') });
    expect(await listed(back, null)).toEqual([there.ids, true]);
  });

  test('[R10] what changed in between is copied again', async () => {
    const there = await filled();
    const stop: Progress = (table) => {
      if (table === 'words' || table === 'tokens') throw new Error('pulled the plug');
    };
    await expect(toServer(there, stop)).rejects.toThrow();
    const ground = await openGround(config(there.folder));
    const [space] = await ground.room.store.directory.spaces();
    await ground.room.store.write(space?.id ?? '', [], (tx) => tx.agents.seen('agent-01', 4711));
    await ground.stop();
    await toServer(there);
    expect(await onDatabase(there.url, 'select last_seen_at as at from agents')).toEqual([{ at: 4711 }]);
  });

  test('[R10] a target with data in it, and a folder without any, are refused', async () => {
    const there = await filled();
    const { url, drop } = await freshDatabase();
    onTestFinished(drop);
    await onDatabase(url, "insert into spaces values ('sp_other', 'other', 1)");
    await expect(toServer({ ...there, url })).rejects.toThrow(/already holds data\. Choose an empty one/);
    expect(await listed(there.folder, null)).toEqual([there.ids, true]);
    const nothing = freshFolder();
    await expect(toServer({ ...there, folder: nothing })).rejects.toThrow(/There is no data in/);
    expect(existsSync(join(nothing, 'lanternroom.db'))).toBe(false);
  });

  test('[R10] a ledger that was tampered with is not moved', async () => {
    const there = await filled();
    const { SqliteSession } = await import('../sqlite/session.ts');
    const { db } = new SqliteSession(join(there.folder, 'lanternroom.db'));
    db.exec("update ledger set actor = 'nobody' where seq = 5");
    db.close();
    await expect(toServer(there)).rejects.toThrow(/record of @home is not whole/);
    const ground = await openGround(config(there.folder));
    await ground.stop();
  });

  test('[R1] data that was never moved is not left behind unnoticed', async () => {
    const there = await filled();
    await expect(openGround(config(there.folder, there.url))).rejects.toThrow(
      /Move the data with "lanternroom migrate/,
    );
  });
});
