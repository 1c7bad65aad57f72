import { expect, test } from 'vitest';
import type { Job, JobState } from '../../core/sending/job.ts';
import type { Store, Tx } from '../../core/store.ts';
import { aDelivery, aJob, anAttempt } from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';
const REQUEST = { url: 'https://example.com/hook', body: '{"a":"ä"}' };

function insertJobs(store: Store, ...jobs: Job[]): Promise<void> {
  return store.write(SPACE, [], async (tx) => {
    for (const job of jobs) await tx.jobs.insert(job, REQUEST);
  });
}

/** One job is a page, too. */
async function lease(tx: Tx, id: string, fence: number, now: number, until: number): Promise<boolean> {
  return (await tx.jobs.lease([{ id, fence }], now, until)).has(id);
}

type Next = { state: JobState; dueAt: number; attempts: number };

async function settle(tx: Tx, id: string, fence: number, next: Next): Promise<boolean> {
  return (await tx.jobs.settle([{ id, fence, ...next }])).has(id);
}

export function describeJobs(fresh: Fresh): void {
  const opened = async () => {
    const { store } = await fresh();
    return {
      store,
      write: <T>(work: (tx: Tx) => Promise<T>) => store.write(SPACE, [], work),
      read: <T>(work: (tx: Tx) => Promise<T>) => store.read(SPACE, work),
    };
  };

  test('[D20] a job comes back as it went in, with what is to be sent', async () => {
    const { store, read } = await opened();
    await insertJobs(store, aJob());
    await read(async (tx) => {
      expect(await tx.jobs.get('job-1')).toEqual(aJob());
      expect(await tx.jobs.requests(['unknown', 'job-1'])).toEqual([null, REQUEST]);
      expect(await tx.jobs.byDelivery('delivery-1')).toEqual([aJob()]);
      expect(await tx.jobs.get('unknown')).toBeNull();
      expect(await tx.jobs.byDelivery('unknown')).toEqual([]);
    });
  });

  test('[D28] of two workers that saw the same job one gets the lease', async () => {
    const { store, write, read } = await opened();
    await insertJobs(store, aJob());
    const once = () => write((tx) => lease(tx, 'job-1', 0, 20, 80));
    expect(await Promise.all([once(), once()])).toEqual([true, false]);
    expect(await read((tx) => tx.jobs.get('job-1'))).toMatchObject({ fence: 1, leasedUntil: 80 });
  });

  test('[D28] of a page of jobs those are leased that are due, free and as they were seen', async () => {
    const { store, write, read } = await opened();
    const many = Array.from({ length: 130 }, (_, i) => aJob({ id: `many-${i}` }));
    const not = [
      aJob({ id: 'done', state: 'done' }),
      aJob({ id: 'leased', leasedUntil: 21 }),
      aJob({ id: 'changed', fence: 2 }),
    ];
    await insertJobs(
      store,
      ...many,
      ...not,
      aJob({ id: 'lease over', leasedUntil: 20 }),
      aJob({ id: 'not asked' }),
    );
    const page = [...many, ...not, aJob({ id: 'lease over' }), aJob({ id: 'unknown' })];
    const wanted = page.map(({ id }) => ({ id, fence: 0 }));
    const won = [...many.map(({ id }) => id), 'lease over'];
    expect([...(await write((tx) => tx.jobs.lease(wanted, 20, 80)))].sort()).toEqual([...won].sort());
    await read(async (tx) => {
      for (const id of won) expect(await tx.jobs.get(id)).toMatchObject({ fence: 1, leasedUntil: 80 });
      for (const job of [...not, aJob({ id: 'not asked' })]) expect(await tx.jobs.get(job.id)).toEqual(job);
    });
    expect(await write((tx) => tx.jobs.lease(wanted, 20, 80))).toEqual(new Set());
    expect(await write((tx) => tx.jobs.lease([], 20, 80))).toEqual(new Set());
  });

  test('[D28] of a page of results those are taken whose lease still holds, each as it ended', async () => {
    const { store, write, read } = await opened();
    const jobs = Array.from({ length: 70 }, (_, i) => aJob({ id: `job ${i}`, fence: 1, leasedUntil: 80 }));
    await insertJobs(store, ...jobs, aJob({ id: 'lost', fence: 2, leasedUntil: 90 }));
    const page = jobs.map(({ id }, i) => ({
      id,
      fence: 1,
      state: i % 2 === 0 ? ('done' as const) : ('due' as const),
      dueAt: 100 + i,
      attempts: i,
    }));
    const late = { id: 'lost', fence: 1, state: 'done' as const, dueAt: 1, attempts: 1 };
    const taken = await write((tx) => tx.jobs.settle([...page, late]));
    expect(taken).toEqual(new Set(page.map(({ id }) => id)));
    await read(async (tx) => {
      for (const next of page)
        expect(await tx.jobs.get(next.id)).toMatchObject({ ...next, leasedUntil: null });
      expect(await tx.jobs.get('lost')).toMatchObject({ fence: 2, leasedUntil: 90, state: 'due' });
    });
    expect(await write((tx) => tx.jobs.settle([]))).toEqual(new Set());
  });

  test('[D28] a lease that is out cannot be taken before it ends, and then only with a new fence', async () => {
    const { store, write } = await opened();
    await insertJobs(store, aJob());
    expect(await write((tx) => lease(tx, 'job-1', 0, 20, 80))).toBe(true);
    expect(await write((tx) => lease(tx, 'job-1', 1, 79, 139))).toBe(false);
    expect(await write((tx) => lease(tx, 'job-1', 0, 80, 140))).toBe(false);
    expect(await write((tx) => lease(tx, 'job-1', 1, 80, 140))).toBe(true);
  });

  test('[D28] a worker that is still at it keeps its lease; one that has lost it does not get it back', async () => {
    const { store, write, read } = await opened();
    await insertJobs(store, aJob());
    await write((tx) => lease(tx, 'job-1', 0, 20, 80));
    expect(await write((tx) => tx.jobs.renew('job-1', 1, 110))).toBe(true);
    expect(await write((tx) => lease(tx, 'job-1', 1, 80, 140))).toBe(false);
    expect(await write((tx) => lease(tx, 'job-1', 1, 110, 170))).toBe(true);
    expect(await write((tx) => tx.jobs.renew('job-1', 1, 200))).toBe(false);
    expect(await read((tx) => tx.jobs.get('job-1'))).toMatchObject({ fence: 2, leasedUntil: 170 });
  });

  test('[D28] the result of a lost lease is not taken, nor can it be given back', async () => {
    const { store, write, read } = await opened();
    await insertJobs(store, aJob());
    await write((tx) => lease(tx, 'job-1', 0, 20, 80));
    await write((tx) => lease(tx, 'job-1', 1, 80, 140));
    const done = { state: 'done' as const, dueAt: 20, attempts: 1 };
    expect(await write((tx) => settle(tx, 'job-1', 1, done))).toBe(false);
    expect(await write((tx) => tx.jobs.release('job-1', 1))).toBe(false);
    expect(await read((tx) => tx.jobs.get('job-1'))).toMatchObject({ state: 'due', leasedUntil: 140 });
    expect(await write((tx) => settle(tx, 'job-1', 2, done))).toBe(true);
    expect(await read((tx) => tx.jobs.get('job-1'))).toMatchObject({ ...done, leasedUntil: null, fence: 2 });
  });

  test('[D28] a job that was given back is free at once', async () => {
    const { store, write } = await opened();
    await insertJobs(store, aJob());
    await write((tx) => lease(tx, 'job-1', 0, 20, 80));
    expect(await write((tx) => tx.jobs.release('job-1', 1))).toBe(true);
    expect(await write((tx) => lease(tx, 'job-1', 1, 21, 81))).toBe(true);
  });

  test('[D20] sent again by hand, a job is due with a new fence, so that a late result is not taken', async () => {
    const { store, write, read } = await opened();
    for (const state of ['done', 'gone', 'given_up', 'due'] as const) {
      await insertJobs(store, aJob({ id: state, state, attempts: 3, fence: 5 }));
      expect(await write((tx) => tx.jobs.requeue(state, 30))).toBe(true);
      expect(await read((tx) => tx.jobs.get(state))).toMatchObject({
        state: 'due',
        dueAt: 30,
        attempts: 3,
        fence: 6,
        leasedUntil: null,
      });
      const late = { state: 'done' as const, dueAt: 20, attempts: 4 };
      expect(await write((tx) => settle(tx, state, 5, late))).toBe(false);
    }
    expect(await write((tx) => tx.jobs.requeue('unknown', 30))).toBe(false);
  });

  test('[W22] sent again by hand while an attempt is under way, that attempt keeps its number', async () => {
    const { store, write, read } = await opened();
    const leased = { attempts: 3, fence: 5 };
    await insertJobs(
      store,
      aJob({ id: 'under way', ...leased, leasedUntil: 31 }),
      aJob({ id: 'lease over', ...leased, leasedUntil: 30 }),
    );
    const again = async (id: string) => {
      await write((tx) => tx.jobs.requeue(id, 30));
      return read((tx) => tx.jobs.get(id));
    };
    expect(await again('under way')).toMatchObject({ attempts: 4, fence: 6, leasedUntil: null });
    expect(await again('under way')).toMatchObject({ attempts: 4, fence: 7 });
    expect(await again('lease over')).toMatchObject({ attempts: 3, fence: 6 });
  });

  test('[D28] a job that is done or given up cannot be leased', async () => {
    const { store, write } = await opened();
    for (const state of ['done', 'gone', 'given_up'] as const) {
      await insertJobs(store, aJob({ id: state, state }));
      expect(await write((tx) => lease(tx, state, 0, 20, 80))).toBe(false);
    }
  });

  test('[D20] attempts are kept in order, and a number is used once', async () => {
    const { store, write, read } = await opened();
    await insertJobs(store, aJob());
    const attempts = [anAttempt(), anAttempt({ number: 2, at: 2, outcome: 'timeout', status: null })];
    await write(async (tx) => {
      for (const attempt of [...attempts].reverse()) await tx.jobs.insertAttempt(attempt);
    });
    expect(await read((tx) => tx.jobs.attempts('delivery-1'))).toEqual(attempts);
    expect(await read((tx) => tx.jobs.attempts('unknown'))).toEqual([]);
    await expect(write((tx) => tx.jobs.insertAttempt(anAttempt()))).rejects.toThrow();
  });

  test('[D28] due is what is due, free and not of a busy receiver, oldest first', async () => {
    const { store } = await opened();
    await insertJobs(
      store,
      aJob({ id: 'later', dueAt: 51 }),
      aJob({ id: 'second', dueAt: 20 }),
      aJob({ id: 'first', dueAt: 10 }),
      aJob({ id: 'done', state: 'done' }),
      aJob({ id: 'leased', leasedUntil: 51 }),
      aJob({ id: 'lease over', dueAt: 30, leasedUntil: 50 }),
      aJob({ id: 'busy', origin: 'https://busy.example' }),
    );
    const due = async (limit: number, busy: string[]) =>
      (await store.directory.jobsDue(50, limit, busy)).map((job) => job.id);
    expect(await due(9, ['https://busy.example'])).toEqual(['first', 'second', 'lease over']);
    expect(await due(1, ['https://busy.example'])).toEqual(['first']);
    const many = Array.from({ length: 300 }, (_, i) => `https://busy-${i}.example`);
    expect(await due(9, [...many, 'https://busy.example'])).toEqual(['first', 'second', 'lease over']);
    expect(await due(9, [])).toContain('busy');
    expect(await store.directory.nextJobAt(0)).toBe(10);
    expect(await store.directory.nextJobAt(50)).toBe(51);
  });

  test('[D13] held decisions and snoozes are found when their time has come, whatever space they are in', async () => {
    const { store } = await fresh();
    expect(await store.directory.nextHeldAt()).toBeNull();
    expect(await store.directory.nextJobAt(0)).toBeNull();
    const insert = (space: string, delivery: ReturnType<typeof aDelivery>) =>
      store.write(space, [], (tx) => tx.deliveries.insert(delivery, new Uint8Array()));
    await insert('sp_1', aDelivery({ seq: 1, effectAt: 50 }));
    await insert('sp_2', aDelivery({ space: 'sp_2', seq: 1, effectAt: 40 }));
    await insert('sp_1', aDelivery({ seq: 2, effectAt: 60 }));
    await insert('sp_2', aDelivery({ space: 'sp_2', seq: 3, snoozedUntil: 50 }));
    await insert('sp_1', aDelivery({ seq: 4, snoozedUntil: 51 }));
    expect(await store.directory.nextHeldAt()).toBe(40);
    expect(await store.directory.heldDue(50, 9)).toEqual([
      { space: 'sp_2', delivery: 'delivery-1', effectAt: 40 },
      { space: 'sp_1', delivery: 'delivery-1', effectAt: 50 },
    ]);
    expect(await store.directory.heldDue(50, 1)).toHaveLength(1);
    expect(await store.directory.snoozedDue(50, 9)).toEqual([{ space: 'sp_2', delivery: 'delivery-3' }]);
  });
}
