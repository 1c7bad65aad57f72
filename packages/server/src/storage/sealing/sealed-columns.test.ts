import { expect, test } from 'vitest';
import { MIGRATIONS } from '../migrations.ts';
import { SEALED } from './sealed-columns.ts';

test('[D85] every column of bytes is in the list of what is sealed', () => {
  const found = new Set<string>();
  for (const sql of MIGRATIONS.flat()) {
    const [, table = ''] = /^(?:create|alter) table (\w+)/.exec(sql) ?? [];
    for (const [, column] of sql.matchAll(/(\w+) \{bytes\}/g)) found.add(`${table}.${column}`);
  }
  expect(SEALED.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([...found].sort());
});
