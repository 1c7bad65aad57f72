import { expect, test } from 'vitest';
import { MIGRATIONS } from './migrations.ts';

/**
 * What a version that does not know a migration can live with: it names its columns, so further ones do not disturb it.
 */
const ADDS = [
  /^create table \w+ \(/,
  /^create (?:unique )?index \w+ on \w+ /,
  /^drop index \w+$/,
  /^alter table \w+ add column \w+ (?:text|bigint|\{bytes\})(?: not null default \S+)?$/,
];

/** Up to here nothing was released, so no two versions ran beside each other: these may also fill what they add. */
const STEPS_BEFORE_RELEASE = 8;
const FILLS = [/^insert into \w+ \(/, /^update \w+ set /];

test('[D25] every step after the first only adds, so that two versions can work beside each other', () => {
  const steps = MIGRATIONS.slice(1).flatMap((step, i) => step.map((sql) => ({ sql: sql.trim(), at: i + 2 })));
  expect(steps.length).toBeGreaterThan(20);
  const isKind = ({ sql, at }: { sql: string; at: number }) =>
    [...ADDS, ...(at <= STEPS_BEFORE_RELEASE ? FILLS : [])].some((known) => known.test(sql));
  expect(steps.filter((step) => !isKind(step))).toEqual([]);
});

test('[D25] a unique index is only made on a table of the same step, or over columns that were so before: no row can be against it', () => {
  const unique = new Set<string>();
  for (const step of MIGRATIONS) {
    const made = new Set(step.flatMap((sql) => /^create table (\w+)/.exec(sql)?.[1] ?? []));
    for (const sql of step) {
      const [, table, columns] = /^create unique index \w+ on (\w+) \(([^)]+)\)/.exec(sql) ?? [];
      if (table === undefined || columns === undefined) continue;
      const over = `${table}: ${columns.split(', ').sort().join(', ')}`;
      expect([sql, made.has(table) || unique.has(over)]).toEqual([sql, true]);
      unique.add(over);
    }
  }
});
