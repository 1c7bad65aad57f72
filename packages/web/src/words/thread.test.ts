import { expect, test } from 'vitest';
import { threadWords } from './thread.ts';

const words = (before: number, after: number) => threadWords({ before, after });

test('[D88] the place in a thread is said in words, as far as it was counted', () => {
  expect(words(0, 4)).toBe('1st of 5 in thread');
  expect(words(1, 3)).toBe('2nd of 5 in thread');
  expect(words(2, 0)).toBe('3rd of 3 in thread');
  expect([10, 11, 12, 20, 21, 110].map((before) => words(before, 200 - before).split(' ')[0])).toEqual([
    '11th',
    '12th',
    '13th',
    '21st',
    '22nd',
    '111th',
  ]);
  expect(words(0, 0)).toBe('the only one so far in thread');
  expect(words(6, 1000)).toBe('7th of more than a thousand in thread');
  expect(words(1000, 3)).toBe('one of more than a thousand in thread');
});
