import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freshFolder } from '../../../testing/folders.ts';
import { anEntry, anEventRecord } from '../../../testing/stores/event-things.ts';
import { Database } from '../../sqlite/driver.ts';
import { SqliteStore } from '../../sqlite.ts';
import { MasterVault } from '../../vault.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));

/** A second one on the same file has written nothing, and remembers nothing. */
function open(file = join(freshFolder(), 'store.db')) {
  const store = SqliteStore.open({ file, sealer: vault, sealHead: vault.mac });
  onTestFinished(() => store.stop());
  const put = (seq: number, text: string, agents = ['agent-1']) =>
    store.write('sp_1', [], async (tx) => {
      const event = anEventRecord({ seq });
      await tx.events.insert(event, Buffer.from(text));
      for (const agent of agents) await tx.entries.insert(anEntry(event, { agent }));
    });
  const texts = async (agent = 'agent-1') => {
    const sent = await store.read('sp_1', (tx) => tx.entries.read(agent, 0, 100));
    return sent.map((one) => Buffer.from(one.body()).toString());
  };
  const leave = (agent: string, seq: number) =>
    store.write('sp_1', [], async (tx) => {
      await tx.entries.removeUpTo(agent, seq);
      await tx.events.removeUnheld([seq]);
    });
  return { file, store, put, texts, leave };
}

function records(file: string): { segment: number; text: string }[] {
  const db = new Database(file);
  const rows = db.prepare('select segment, sealed from bodies order by segment').all() as {
    segment: number;
    sealed: ArrayBuffer;
  }[];
  db.close();
  return rows.map(({ segment, sealed }) => ({
    segment,
    text: Buffer.from(vault.open(new Uint8Array(sealed), `bodies:sp_1:${segment}`)).toString(),
  }));
}

test('[K9] bodies that commit together are one record, and others another', async () => {
  const { file, put, texts } = open();
  await Promise.all([put(1, 'one'), put(2, 'two'), put(3, 'three')]);
  await put(4, 'four');
  expect(records(file)).toEqual([
    { segment: 1, text: 'one,two,three' },
    { segment: 4, text: 'four' },
  ]);
  expect(await texts()).toEqual(['one', 'two', 'three', 'four']);
});

test('[K9] what was just written is read without being opened, and later from its record', async () => {
  const { file, store, put, texts } = open();
  const opened = vi.spyOn(vault, 'open');
  await put(1, 'one');
  expect(await texts()).toEqual(['one']);
  expect(opened).not.toHaveBeenCalled();
  await expect(
    store.write('sp_1', [], async (tx) => {
      await tx.events.insert(anEventRecord({ seq: 2 }), Buffer.from('lost'));
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await put(2, 'two');
  expect(await texts()).toEqual(['one', 'two']);
  expect(await open(file).texts()).toEqual(['one', 'two']);
  expect(opened).toHaveBeenCalledTimes(2);
});

test('[K17] what leaves is gone from its record at once, and the record with its last body', async () => {
  const { file, put, texts, leave } = open();
  await Promise.all([put(1, 'canary', ['agent-1', 'agent-2']), put(2, 'stays')]);
  await leave('agent-1', 1);
  expect(records(file)).toEqual([{ segment: 1, text: 'canary,stays' }]);
  expect(await texts('agent-2')).toEqual(['canary']);
  await leave('agent-2', 1);
  expect(records(file)).toEqual([{ segment: 1, text: `${'\0'.repeat(6)},stays` }]);
  expect(await texts()).toEqual(['stays']);
  await leave('agent-1', 2);
  expect(records(file)).toEqual([]);
});

test('[D40] what only a removed agent was sent leaves with it, and the rest of the record stays', async () => {
  const { file, store, put, texts } = open();
  await Promise.all([put(1, 'canary'), put(2, 'shared', ['agent-1', 'agent-2'])]);
  await store.write('sp_1', [], (tx) => tx.agents.remove('agent-1'));
  expect(records(file)).toEqual([{ segment: 1, text: `${'\0'.repeat(6)},shared` }]);
  expect(await texts('agent-2')).toEqual(['shared']);
});

test('[K9] a unit that fails takes nothing of the others along', async () => {
  const { file, store, put, texts } = open();
  const failing = store.write('sp_1', [], async (tx) => {
    await tx.events.insert(anEventRecord({ seq: 9 }), Buffer.from('lost'));
    throw new Error('on purpose');
  });
  const done = await Promise.allSettled([put(1, 'one'), failing, put(2, 'two')]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(records(file).map(({ text }) => text)).toEqual(['one', 'two']);
  expect(await texts()).toEqual(['one', 'two']);
});

test('[K9] a record that was moved to another place does not open', async () => {
  const { file, put } = open();
  await put(1, 'one');
  await put(2, 'two');
  const db = new Database(file);
  db.exec('update bodies set sealed = (select sealed from bodies where segment = 2) where segment = 1');
  db.close();
  await expect(open(file).texts()).rejects.toThrow();
});

test('[D25] a record from before bodies were parted by commas is read one by one', async () => {
  const { file, put } = open();
  await Promise.all([put(1, 'one'), put(2, 'two'), put(3, 'three')]);
  const db = new Database(file);
  db.prepare('update bodies set sealed = ?').run(vault.seal('onetwothree', 'bodies:sp_1:1'));
  db.exec('update events set body_at = body_at - seq + 1');
  db.close();
  const again = open(file);
  expect(await again.texts()).toEqual(['one', 'two', 'three']);
  const runs = await again.store.read('sp_1', (tx) => tx.entries.runs('agent-1', 0, 10));
  expect(runs).toEqual([{ first: 1, last: 3, size: 11, bytes: null }]);
  const [second] = await again.store.read('sp_1', (tx) => tx.entries.runs('agent-1', 1, 1));
  expect(Buffer.from(second?.bytes?.() ?? []).toString()).toBe('two');
});

test('[D25] an event from before bodies were sealed together is read from its own row', async () => {
  const { file, put, texts, leave } = open();
  await put(1, 'new');
  await put(2, 'old');
  const db = new Database(file);
  db.prepare(
    'update events set body = ?, segment = null, body_at = null, body_size = null where seq = 2',
  ).run(vault.seal('from before', 'event:sp_1:2'));
  db.close();
  expect(await texts()).toEqual(['new', 'from before']);
  await leave('agent-1', 2);
  expect(await texts()).toEqual([]);
});
