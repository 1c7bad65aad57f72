import { expect, test } from 'vitest';
import type { LogEntry } from '../core/tasks/task.ts';
import { RecentLogs } from './log-memory.ts';

const log = (pos: number): LogEntry[] => [{ pos, kind: 'message', note: '', at: 1, body: null }];

test('[A9] a log that was read is remembered under its length, and the oldest ones leave first', () => {
  const memory = new RecentLogs();
  for (let i = 0; i < 300; i++) memory.put(`task-${i}`, log(i), 64 * 1024);
  expect(memory.get('task-0')).toBeUndefined();
  expect(memory.get('task-44')).toEqual(log(44));
  expect(memory.get('task-299')).toEqual(log(299));
});

test('[A9] one that is large is read anew each time', () => {
  const memory = new RecentLogs();
  memory.put('large', log(1), 65 * 1024);
  expect(memory.get('large')).toBeUndefined();
});
