import { expect, test } from 'vitest';
import { stillRows } from './still-rows.ts';

const rows = (text: string) => text.split('').map((id) => ({ id }));
const still = (order: string, all: string) => {
  const { shown, changed } = stillRows(order.split(''), rows(all), (row) => row.id);
  return [shown.map((row) => row.id).join(''), changed];
};

test.each([
  ['', 'abc', 'abc', 0],
  ['abc', 'abc', 'abc', 0],
  ['abc', 'xabc', 'abc', 1],
  ['abc', 'cab', 'abc', 1],
  ['abc', 'xcab', 'abc', 2],
  ['abc', 'abcde', 'abcde', 0],
  ['abc', 'ac', 'ac', 0],
  ['abc', 'xy', 'xy', 0],
])('[D62] rows seen as %s stay where they are when the list is %s', (order, all, shown, changed) => {
  expect(still(order, all)).toEqual([shown, changed]);
});
