import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { addAgent, foundSpace } from '../../core/agents/found.ts';
import { orThrow } from '../../core/faults.ts';
import { record } from '../../core/room.ts';
import { openGround } from '../../main.ts';
import { freshFolder } from '../../testing/folders.ts';
import { directory } from '../rows/directory.ts';
import { taskRows } from '../rows/tasks/tasks.ts';
import { rememberedWhile, versionOf } from '../sqlite.ts';
import { every, type Session, type Statement } from '../statement.ts';
import { MasterVault } from '../vault.ts';
import { SqliteSession } from './session.ts';
import { UntilChanged } from './until-changed.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function counting() {
  const state = { version: 1, looks: 0, finds: 0 };
  const answers = new UntilChanged<{ n: number }>(['keys', 'agents'], () => {
    state.looks++;
    return state.version;
  });
  const get = () => answers.get('key', async () => ({ n: ++state.finds }));
  return { state, wrote: (table: string) => answers.wrote(new Set(['ledger', table])), answers, get };
}

test('[W1] a key is looked up once while nothing changes, and again after a commit of ours to its tables', async () => {
  const { state, wrote, get } = counting();
  expect(await get()).toEqual({ n: 1 });
  wrote('deliveries');
  expect(await get()).toEqual({ n: 1 });
  wrote('agents');
  expect(await get()).toEqual({ n: 2 });
  expect(state.finds).toBe(2);
});

test('[W1] a commit of another process is noticed in the next turn of the event loop', async () => {
  const { state, get } = counting();
  await get();
  await get();
  expect(state.looks).toBe(1);
  state.version = 2;
  await nextTurn();
  expect(await get()).toEqual({ n: 2 });
});

test('[W1] an answer that was found while something changed is not kept', async () => {
  const { answers, wrote, get } = counting();
  const first = answers.get('key', async () => {
    wrote('keys');
    return { n: -1 };
  });
  expect(await first).toEqual({ n: -1 });
  expect(await get()).toEqual({ n: 1 });
});

test('[W1] a key that is not known is asked for again', async () => {
  const { answers, get } = counting();
  expect(await answers.get('key', async () => null)).toBeNull();
  expect(await get()).toEqual({ n: 1 });
});

/** Finds nothing, and tells where it was looked for. */
class Noting implements Session {
  readonly tables = new Set<string>();

  async all<P extends object, R>(statement: Statement<P, R>): Promise<R[]> {
    this.#note(statement);
    return [];
  }

  async one<P extends object, R>(statement: Statement<P, R>): Promise<R | undefined> {
    this.#note(statement);
    return undefined;
  }

  async run<P extends object, R>(statement: Statement<P, R>): Promise<number> {
    this.#note(statement);
    return 0;
  }

  #note<P extends object, R>({ reach }: Statement<P, R>): void {
    for (const table of reach.tables) this.tables.add(table);
  }
}

test('[W1] what is remembered is forgotten with any table that it was read from', async () => {
  const writer = new SqliteSession(join(freshFolder(), 'store.db'));
  onTestFinished(() => void writer.db.close());
  const { identities, addresses, signers, tasks } = rememberedWhile(versionOf(writer));
  const vault = new MasterVault(Buffer.from('a master key for tests'));
  const readBy = async (look: (session: Session) => Promise<unknown>) => {
    const session = new Noting();
    await look(session);
    return [...session.tables].sort();
  };
  const from = async (look: (found: ReturnType<typeof directory>) => Promise<unknown>) =>
    readBy((session) => look(directory(session, vault)));
  expect([...identities.from].sort()).toEqual(await from((found) => found.identityByDigest('d')));
  expect([...addresses.from].sort()).toEqual(await from((found) => found.agentAddress('home', 'a')));
  expect([...signers.from].sort()).toEqual(await from((found) => found.producerKey('pk')));
  expect([...tasks.from].sort()).toEqual(await readBy((session) => taskRows(session, 'sp').get('t')));
});

test('[W1] every statement that writes tells its table', () => {
  const writing = every.filter((one) => /^(insert|update|delete)/.test(one.compile('sqlite').sql));
  expect(writing.length).toBeGreaterThan(50);
  expect(writing.filter((one) => one.reach.tables.size === 0)).toEqual([]);
});

test('[W1] on a real store: other commits of ours leave it, those of another process do not', async () => {
  const folder = freshFolder();
  const { room, stop } = await openGround(readConfig({ flags: { data: folder }, env: {} }));
  onTestFinished(stop);
  const space = orThrow(await foundSpace(room, 'home', 'test'));
  const key = `wk_test_${'A'.repeat(32)}`;
  orThrow(await addAgent(room, { space: space.id, id: 'agent-1', tier: 'test', key }, 'test'));
  const look = () => room.store.directory.identityByDigest(room.vault.sha256(key));
  const first = await look();
  await nextTurn();
  const entry = { actor: 'test', action: 'test', subject: 'test', data: {} };
  await room.store.write(space.id, ['ledger'], (tx) => record(room, tx, room.clock.now(), entry));
  await nextTurn();
  expect(first?.accepted).toBe(false);
  expect(await look()).toBe(first);
  const other = new SqliteSession(join(folder, 'lanternroom.db'));
  other.db.exec('update agents set accepted_at = 1');
  other.db.close();
  await nextTurn();
  expect((await look())?.accepted).toBe(true);
});
