import { expect, test } from 'vitest';
import { Fault } from '../core/faults.ts';
import { type BatchRunner, type Done, GroupCommit, type Unit } from './batch.ts';
import { DAMAGED } from './sqlite/errors.ts';

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
