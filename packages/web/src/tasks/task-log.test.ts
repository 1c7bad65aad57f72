import { describe, expect, test } from 'vitest';
import type { TaskEntry } from '../api/task-types.ts';
import { toLines } from './task-log.ts';

let pos = 0;
const entry = (over: Partial<TaskEntry>): TaskEntry => ({
  pos: ++pos,
  kind: 'message',
  at: '2026-11-15T09:00:00Z',
  state: null,
  role: null,
  parts: [],
  artifact: null,
  ...over,
});
const chunk = (text: string, over: Partial<NonNullable<TaskEntry['artifact']>> = {}) =>
  entry({
    kind: 'artifact',
    parts: [{ text }],
    artifact: { artifact_id: 'a', name: 'a.md', description: null, append: false, last: false, ...over },
  });

describe('the log of a task', () => {
  test('[D62] chunks become one artifact where it first came up, open until its last one', () => {
    const log = [chunk('# He'), entry({ kind: 'status', state: 'working' }), chunk('llo', { append: true })];
    expect(toLines(log)).toMatchObject([
      { kind: 'made', name: 'a.md', parts: [{ text: '# Hello' }], isOpen: true },
      { kind: 'turned', state: 'working' },
    ]);
    const ended = toLines([...log, chunk('!', { append: true, last: true })]);
    expect(ended[0]).toMatchObject({ parts: [{ text: '# Hello!' }], isOpen: false });
  });

  test('[D62] an artifact that comes again replaces the one before', () => {
    const lines = toLines([chunk('old'), entry({ parts: [{ text: 'x' }], role: 'user' }), chunk('new')]);
    expect(lines).toMatchObject([{ parts: [{ text: 'new' }] }, { kind: 'said', by: 'user' }]);
  });

  test('[D62] a state that says something is a state and words; the same state again is only words', () => {
    const say = (text: string) =>
      entry({ kind: 'status', state: 'working', role: 'agent', parts: [{ text }] });
    expect(toLines([say('a'), say('b')]).map((line) => line.kind)).toEqual(['turned', 'said', 'said']);
  });
});
