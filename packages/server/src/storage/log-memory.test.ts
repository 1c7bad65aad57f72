import { expect, test } from 'vitest';
import type { LogEntry } from '../core/tasks/task.ts';
import { RecentLogs } from './log-memory.ts';

const log = (pos: number): [LogEntry] => [{ pos, kind: 'message', note: '', at: 1, body: null }];

test('[A9] a log that was read is remembered under its length, and the oldest ones leave first', () => {
  const memory = new RecentLogs();
  for (let i = 0; i < 300; i++) memory.put(`task-${i}`, log(i), 64 * 1024);
  expect(memory.get('task-0')).toBeUndefined();
  expect(memory.get('task-44')).toEqual(log(44));
  expect(memory.get('task-299')).toEqual(log(299));
});

test('[A9] a large one is read again each time', () => {
  const memory = new RecentLogs();
  memory.put('large', log(1), 65 * 1024);
  expect(memory.get('large')).toBeUndefined();
});

test('[A9] a log that has grown is remembered under its new length alone, and one that nobody knows not at all', () => {
  const memory = new RecentLogs();
  memory.put('task/1', log(1), 100);
  memory.grow('task/1', 'task/2', ...log(2), 100);
  memory.grow('other/1', 'other/2', ...log(2), 100);
  expect(memory.get('task/1')).toBeUndefined();
  expect(memory.get('task/2')).toEqual([...log(1), ...log(2)]);
  expect(memory.get('other/2')).toBeUndefined();
});

test('[A9] what has grown counts for what it has become', () => {
  const memory = new RecentLogs();
  memory.put('grows/1', log(1), 1024);
  for (let i = 0; i < 255; i++) memory.put(`task-${i}`, log(i), 64 * 1024);
  memory.grow('grows/1', 'grows/2', ...log(2), 63 * 1024);
  expect(memory.get('task-0')).toEqual(log(0));
  memory.put('one more', log(1), 1024);
  expect(memory.get('task-0')).toBeUndefined();
  memory.grow('grows/2', 'grows/3', ...log(3), 1024);
  expect(memory.get('grows/3')).toBeUndefined();
});
