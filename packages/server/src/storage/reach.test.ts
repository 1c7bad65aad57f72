import { expect, test } from 'vitest';
import './rows/directory.ts';
import './tx.ts';
import { every } from './statement.ts';

/** Finds the space of a credential, or what is due anywhere: all in directory.ts and producer-directory.ts. */
const DIRECTORY = [
  /from "keys" inner join "agents" .* where "keys"\."digest" = /,
  /from "(sessions|tokens|invitations|passkeys|resets|callers)" where "digest" = /,
  /from "people" where "email" = \$1 limit/,
  /from "spaces" (order by|where "handle" = |inner join "agents" .* where "spaces"\."handle" = )/,
  /from "(deliveries|jobs|preferences)" where ("effect_at"|"snoozed_until"|"digest_at"|"state" = \$1)/,
  /from "links" where "until" <= /,
  /from "producer_keys" inner join "producers" .* where "producer_keys"\."(key_id|revoked_at)"/,
  /from "heads" where ("name" = \$1$|"space_id" = \$1 and "name" = \$2$)/,
];

const sqls = every.map((statement) => statement.compile('postgres').sql);
const inASpace = sqls.filter((sql) => !DIRECTORY.some((known) => known.test(sql)));

/** Each table that is read or changed is bound to the space, by a parameter or by a table that is. */
function isBound(sql: string): boolean {
  if (sql.startsWith('insert')) return /^insert into "\w+" \("space_id", /.test(sql);
  const tables = [...sql.matchAll(/(?:from|update|join) "\w+"/g)];
  return tables.length > 0 && [...sql.matchAll(/"space_id" = /g)].length === tables.length;
}

test('[R11] every statement keeps to its space, but for the few of the directory', () => {
  expect(inASpace.filter((sql) => !isBound(sql))).toEqual([]);
  expect(inASpace.length).toBeGreaterThan(150);
  expect(sqls.length - inASpace.length).toBeLessThan(30);
});

test('[R11] a statement that forgot its space would be noticed', () => {
  expect(isBound('select * from "deliveries" where "delivery_id" = $1')).toBe(false);
  expect(
    isBound('delete from "words" where "space_id" = $1 and "seq" in (select "seq" from "deliveries")'),
  ).toBe(false);
});
