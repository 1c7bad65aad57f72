import { expect, it } from 'vitest';
import { minutesLeft, progressWords } from './progress.ts';

it('says where one is and about how long it still takes', () => {
  const rest = [{ type: 'question' }, { type: 'output' }, { type: 'question' }] as const;
  expect(progressWords(2, 5, minutesLeft(rest))).toEqual(['3 of 5', 'about 5 minutes left']);
  expect(progressWords(4, 5, minutesLeft(rest.slice(2)))).toEqual(['5 of 5', 'about 1 minute left']);
  expect(progressWords(0, 900, 2419)).toEqual(['1 of 900', 'about 40 hours left']);
});

it('counts half a minute as the header of the inbox does, so that both say the same', () => {
  expect(minutesLeft([{ type: 'update' }])).toBe(1);
  expect(
    minutesLeft([{ type: 'output' }, { type: 'question' }, { type: 'question' }, { type: 'update' }]),
  ).toBe(6);
});
