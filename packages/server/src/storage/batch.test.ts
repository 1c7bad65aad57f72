import { expect, test } from 'vitest';
import { DAMAGED, Fault } from '../core/faults.ts';
import { type BatchRunner, type Done, GroupCommit, type Unit } from './batch.ts';

/** A database that is away: every transaction fails before it begins. */
function away(): BatchRunner & { tried: number } {
  return {
    tried: 0,
    async commit(_units: readonly Unit[]): Promise<Done[]> {
      this.tried++;
      throw new Fault('unavailable', 'The store is busy.', { retryAfter: 2 });
    },
  };
}

const results = (units: readonly Unit[]) => units.map((unit) => ({ unit, value: 'done', announced: [] }));

test('[D26] a store that is away is asked once for a whole batch, and every unit is told', async () => {
  const runner = away();
  const commits = new GroupCommit(runner, () => {});
  const units = Array.from({ length: 100 }, () => commits.submit('sp_1', [], async () => 'done'));
  const outcomes = await Promise.allSettled(units);
  expect(outcomes.every((o) => o.status === 'rejected' && o.reason.fault === 'unavailable')).toBe(true);
  expect(runner.tried).toBe(1);
});

test('[D26] when the store is back, so are the commits', async () => {
  const runner = away();
  const commits = new GroupCommit(runner, () => {});
  await expect(commits.submit('sp_1', [], async () => 'done')).rejects.toThrow('busy');
  runner.commit = async (units: readonly Unit[]) => results(units);
  expect(await commits.submit('sp_1', [], async () => 'done')).toBe('done');
  await commits.close();
});

test('[D81] a damaged place harms only the unit that looks there', async () => {
  const damaged = new Fault('unavailable', DAMAGED, { retryAfter: 60 });
  const runner: BatchRunner = {
    async commit(units: readonly Unit[]): Promise<Done[]> {
      return Promise.all(
        units.map(async (unit) => ({ unit, value: await unit.work({} as never), announced: [] })),
      );
    },
  };
  const commits = new GroupCommit(runner, () => {});
  const looks = commits.submit('sp_1', [], () => Promise.reject(damaged));
  const others = Array.from({ length: 10 }, () => commits.submit('sp_1', [], async () => 'done'));
  await expect(looks).rejects.toBe(damaged);
  expect(await Promise.all(others)).toEqual(Array(10).fill('done'));
  await commits.close();
});

/** A database whose commits are answered when the test says so, and which lets the next batch begin before that. */
function slow() {
  const batches: { values: unknown[]; answer(): void; fail(reason: unknown): void }[] = [];
  const runner: BatchRunner = {
    async commit(units, queue) {
      queue.join(({ space }) => space === 'sp_1');
      const done: Done[] = [];
      for (const unit of units) done.push({ unit, value: await unit.work({} as never), announced: [] });
      const values = done.map(({ value }) => value);
      const answered = new Promise<void>((answer, fail) => batches.push({ values, answer, fail }));
      queue.next();
      await answered;
      return done;
    },
  };
  return { runner, batches };
}

const turns = async (count: number) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

test('[D26] the next batch begins while the last is on its way to the disk, and nobody is answered early', async () => {
  const { runner, batches } = slow();
  const commits = new GroupCommit(runner, () => {});
  const answered: number[] = [];
  const submit = (n: number) =>
    commits.submit('sp_1', [], async () => n).then((value) => answered.push(value));
  const first = submit(1);
  await turns(3);
  const second = submit(2);
  await turns(3);
  expect(batches.map(({ values }) => values)).toEqual([[1], [2]]);
  expect(answered).toEqual([]);
  const closed = commits.close();
  batches[1]?.answer();
  await second;
  expect(answered).toEqual([2]);
  batches[0]?.answer();
  await Promise.all([first, closed]);
  expect(answered).toEqual([2, 1]);
});

test('[D26] whoever joins a batch shares its fate, and runs again when it fails', async () => {
  let commits: GroupCommit;
  const sizes: number[] = [];
  const late: Promise<string>[] = [];
  const runner: BatchRunner = {
    async commit(units, queue) {
      if (sizes.length === 0)
        for (const space of ['sp_1', 'sp_2', 'sp_1']) late.push(commits.submit(space, [], async () => space));
      queue.join(({ space }) => space === 'sp_1');
      sizes.push(units.length);
      if (sizes.length === 1) throw new Error('one of them is bad');
      return results(units);
    },
  };
  commits = new GroupCommit(runner, () => {});
  expect(await commits.submit('sp_1', [], async () => 'first')).toBe('done');
  expect(await Promise.all(late)).toEqual(['done', 'done', 'done']);
  expect(sizes).toEqual([3, 1, 1, 1, 1]); // together, each alone, and who did not fit
  await commits.close();
});
