import { expect, test } from 'vitest';
import { type Answer, type Decision, judge, mayUndo } from './decision.ts';

const DELIVERY = { state: 'pending' as const, contentHash: 'aa' };

const ANSWER: Answer = { verdict: 'approved', feedback: null, editedContent: null, contentHash: 'aa' };

test('[D11] inside an undo window the answer is held until its end; without one it takes effect at once', () => {
  expect(judge(DELIVERY, ANSWER, 100, 10)).toEqual({ kind: 'held', effectAt: 110 });
  expect(judge(DELIVERY, ANSWER, 100, 0)).toEqual({ kind: 'effective' });
});

test('[D11] an answer to something else than what is there is refused', () => {
  const stale = { ...ANSWER, contentHash: 'bb' };
  expect(judge(DELIVERY, stale, 100, 10)).toEqual({ kind: 'changed', contentHash: 'aa' });
});

test.each([
  ['decided', 'already_decided'],
  ['held', 'already_held'],
  ['withdrawn', 'withdrawn'],
  ['superseded', 'superseded'],
] as const)('[D11] what is %s cannot be decided: %s, also with a stale hash', (state, kind) => {
  expect(judge({ ...DELIVERY, state }, ANSWER, 100, 10)).toEqual({ kind });
  expect(judge({ ...DELIVERY, state }, { ...ANSWER, contentHash: 'bb' }, 100, 0)).toEqual({ kind });
});

const HELD: Decision = {
  space: 'sp',
  seq: 2,
  delivery: 'd1',
  agent: 'agent-01',
  verdict: 'approved',
  person: 'p1',
  deliveredAt: 50,
  decidedAt: 100,
  effectAt: 110,
  state: 'held',
  contentHash: 'aa',
};

test('[D14] undo works while the decision is held and its window open, and never afterwards', () => {
  expect(mayUndo(HELD, 100)).toBe(true);
  expect(mayUndo(HELD, 109)).toBe(true);
  expect(mayUndo(HELD, 110)).toBe(false);
  expect(mayUndo({ ...HELD, state: 'effective' }, 105)).toBe(false);
  expect(mayUndo({ ...HELD, state: 'undone' }, 105)).toBe(false);
  expect(mayUndo(null, 105)).toBe(false);
});
