import { expect, test } from 'vitest';
import { Fault } from '../core/faults.ts';
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
