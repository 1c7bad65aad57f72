import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../config.ts';
import { addAgent, foundSpace } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import type { Room } from '../core/room.ts';
import { signCallback } from '../http/signing/callback-signature.ts';
import { openGround } from '../main.ts';
import { Database } from '../storage/sqlite/driver.ts';
import { freshFolder } from '../testing/folders.ts';
import { aJob } from '../testing/stores/things.ts';
import { until } from '../testing/waiting.ts';
import { Dispatcher, type DispatcherParts } from './dispatcher.ts';

const URL = 'https://example.com/hook';
const HUNG = Array.from({ length: 40 }, (_, i) => `https://hung-${i}.example/hook`);

/** A dispatcher whose requests go nowhere and are all answered well, but for those to receivers that hang. */
async function opened(over: (room: Room) => Room = (room) => room) {
  const folder = freshFolder();
  const { room, stop } = await openGround(readConfig({ flags: { data: folder }, env: {} }));
  const { id: space } = orThrow(await foundSpace(room, 'home', 'test'));
  const agent = {
    space,
    id: 'agent',
    tier: 'test' as const,
    key: `wk_test_${'k'.repeat(36)}`,
    callbacks: [URL, ...HUNG],
  };
  orThrow(await addAgent(room, agent, 'test'));
  const sent: string[] = [];
  let cut = () => {};
  const stopped = new Promise<void>((resolve) => {
    cut = resolve;
  });
  const outbound: DispatcherParts['outbound'] = {
    async send({ headers, url }) {
      sent.push(headers['webhook-id'] ?? '');
      if (HUNG.includes(url)) await stopped;
      return {
        ok: true,
        status: 204,
        headers: {},
        bodyStart: Buffer.alloc(0),
        truncated: false,
        durationMs: 1,
      };
    },
    stop: async () => cut(),
  };
  let wake = () => {};
  const wakeups: DispatcherParts['wakeups'] = {
    on(_, tell) {
      wake = tell;
      return () => {};
    },
  };
  const warned: unknown[] = [];
  const dispatcher = new Dispatcher({
    room: over(room),
    outbound,
    mailer: null,
    sign: signCallback,
    push: null as unknown as DispatcherParts['push'],
    wakeups,
    warn: (problem) => warned.push(problem),
  });
  onTestFinished(async () => {
    await dispatcher.stop();
    await stop();
  });
  const queue = (id: string, url = URL, dueAt = 1) =>
    room.store.write(space, [], (tx) => {
      const job = aJob({ space, agent: 'agent', id, delivery: `of ${id}`, origin: originOf(url), dueAt });
      return tx.jobs.insert(job, { url, body: '{}', tier: 'test' });
    });
  return { folder, room, space, dispatcher, sent, queue, warned, wake: () => wake() };
}

const originOf = (url: string) => new globalThis.URL(url).origin;

/** The same thing but for some of its parts. */
function changed<T extends object>(thing: T, over: Partial<T>): T {
  return new Proxy(thing, {
    get(of, name) {
      if (name in over) return over[name as keyof T];
      const part = of[name as keyof T];
      return typeof part === 'function' ? part.bind(of) : part;
    },
  });
}

test('[W22] who is announced while the next look is planned is not left until the one after', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] }); // no backstop comes to help
  onTestFinished(() => void vi.useRealTimers());
  let planning = () => {};
  let planned = () => {};
  const beingPlanned = new Promise<void>((resolve) => {
    planning = resolve;
  });
  const mayGoOn = new Promise<void>((resolve) => {
    planned = resolve;
  });
  const nextJobAt = async () => {
    planning();
    await mayGoOn;
    return Number.MAX_SAFE_INTEGER;
  };
  const { dispatcher, sent, queue, wake } = await opened((room) => ({
    ...room,
    store: changed(room.store, { directory: changed(room.store.directory, { nextJobAt }) }),
  }));
  dispatcher.start();
  await beingPlanned;
  await queue('late');
  wake();
  planned();
  await until(async () => sent.length > 0);
  expect(sent).toEqual(['of late']);
});

test('[W22] the next look is planned from the moment of the last one: what falls due in between is not left', async () => {
  const looked: number[] = [];
  const planned: number[] = [];
  const { dispatcher } = await opened((room) => {
    const { directory } = room.store;
    const jobsDue: typeof directory.jobsDue = (before, ...rest) => {
      looked.push(before);
      return directory.jobsDue(before, ...rest);
    };
    const nextJobAt = async (after: number) => {
      planned.push(after);
      return null;
    };
    return {
      ...room,
      store: changed(room.store, { directory: changed(directory, { jobsDue, nextJobAt }) }),
    };
  });
  dispatcher.start();
  await until(async () => planned.length > 0);
  expect(planned[0]).toBe(looked[0]);
});

test('[D20][W22] what cannot be opened is put on the record as that, and those beside it are sent', async () => {
  const { folder, room, space, dispatcher, sent, queue } = await opened();
  for (const id of ['well', 'damaged', 'well too']) await queue(id);
  const file = new Database(`${folder}/lanternroom.db`);
  file.prepare("update jobs set request = x'00' where job_id = 'damaged'").run();
  file.close();
  dispatcher.start();
  const attempts = (id: string) => room.store.read(space, (tx) => tx.jobs.attempts(`of ${id}`));
  for (const id of ['well', 'damaged', 'well too']) await until(async () => (await attempts(id)).length > 0);
  expect(sent.sort()).toEqual(['of well', 'of well too']);
  expect(await attempts('damaged')).toMatchObject([{ outcome: 'unreadable', status: null }]);
  expect(await room.store.read(space, (tx) => tx.jobs.get('damaged'))).toMatchObject({
    state: 'due',
    attempts: 1,
  });
});

test('[D20][W22] neither is a callback silently tried for ever whose secrets cannot be opened', async () => {
  const { folder, room, space, dispatcher, sent, queue, warned } = await opened();
  await queue('unsigned');
  const file = new Database(`${folder}/lanternroom.db`);
  file.prepare("update agents set callback_secrets = x'00'").run();
  file.close();
  dispatcher.start();
  const job = () => room.store.read(space, (tx) => tx.jobs.get('unsigned'));
  await until(async () => warned.length > 0);
  await until(async () => (await job())?.leasedUntil === null);
  expect(await job()).toMatchObject({ state: 'due', attempts: 1 });
  expect(await room.store.read(space, (tx) => tx.jobs.attempts('of unsigned'))).toMatchObject([
    { outcome: 'unreadable', status: null },
  ]);
  expect(sent).toEqual([]);
});

test.each([
  ['of an agent that is gone', { agent: 'gone' }, { tier: 'test' as const }],
  ['that does not know its tier, of a delivery that is gone', {}, {}],
])('[W21] a callback %s goes nowhere, and says so', async (_what, job, more) => {
  const { room, space, dispatcher, sent } = await opened();
  const lost = aJob({ space, agent: 'agent', id: 'lost', delivery: 'of lost', dueAt: 1, ...job });
  await room.store.write(space, [], (tx) => tx.jobs.insert(lost, { url: URL, body: '{}', ...more }));
  dispatcher.start();
  const attempts = () => room.store.read(space, (tx) => tx.jobs.attempts('of lost'));
  await until(async () => (await attempts()).length > 0);
  expect(await attempts()).toMatchObject([{ outcome: 'target_not_allowed', status: null }]);
  expect(sent).toEqual([]);
});

test('[W22] a store that takes nothing is not asked for the same callbacks without a pause', async () => {
  let refusals = 0;
  let isFull = true;
  const { dispatcher, sent, queue, wake, warned } = await opened((room) => ({
    ...room,
    store: changed(room.store, {
      write: (space, heads, work) => {
        if (!isFull) return room.store.write(space, heads, work);
        refusals++;
        return Promise.reject(new Error('the disk is full'));
      },
    }),
  }));
  await queue('one');
  dispatcher.start();
  await until(async () => warned.length > 0);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect({ refusals, warned: warned.length }).toEqual({ refusals: 1, warned: 1 });
  isFull = false;
  wake();
  await until(async () => sent.length > 0);
});

test('[D28] receivers that hang, however many and with however much before them, hold up nobody else', async () => {
  const { dispatcher, sent, queue } = await opened();
  const before = HUNG.flatMap((url, i) => Array.from({ length: 12 }, (_, n) => queue(`${i}/${n}`, url)));
  await Promise.all([...before, queue('one', URL, 2), queue('two', URL, 2)]);
  dispatcher.start();
  await until(async () => sent.includes('of one') && sent.includes('of two'));
  // One each: they have not shown that they end what they begin.
  expect(sent).toHaveLength(HUNG.length + 2);
});
