import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase, onDatabase } from '../../testing/postgres/postgres.ts';
import { insertOf } from '../statement.ts';
import { PgLink } from './link.ts';

const insert = insertOf('tokens', [
  'space_id',
  'token_id',
  'person_id',
  'name',
  'digest',
  'last_four',
  'created_at',
  'revoked_at',
]);
const bytes = insertOf('bodies', ['space_id', 'segment', 'last_seq', 'sealed']);

async function linked(): Promise<{ link: PgLink; url: string }> {
  const { url, drop } = await freshDatabase();
  const link = await PgLink.open(url, () => {});
  onTestFinished(async () => {
    await link.close();
    await drop();
  });
  return { link, url };
}

const token = (n: number, more: object = {}) => ({
  space_id: 'sp_1',
  token_id: `token-${n}`,
  person_id: 'p',
  name: 'n',
  digest: `${n}`,
  last_four: 'four',
  created_at: n,
  revoked_at: null,
  ...more,
});

test('[R1] rows that are copied read as they were written', async () => {
  const { link, url } = await linked();
  const numbers = [
    0,
    -1,
    2 ** 31,
    -(2 ** 32),
    2 ** 32 + 5,
    Number.MAX_SAFE_INTEGER,
    -Number.MAX_SAFE_INTEGER,
  ];
  const words = ['', 'plain', 'ä', '漢字', '👩‍🚀', '\\N\t\n"\'', 'x'.repeat(70_000)];
  const rows = numbers.map((n, i) =>
    token(i, { created_at: n, revoked_at: i % 2 ? n : null, name: words[i] }),
  );
  await link.copy(insert, rows);
  const stored = await onDatabase(url, 'select * from tokens order by token_id');
  expect(stored).toMatchObject(rows);
  const sealed = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
  await link.copy(bytes, [
    { space_id: 'sp_1', segment: 1, last_seq: 1, sealed },
    { space_id: 'sp_1', segment: 2, last_seq: 2, sealed: new Uint8Array(0) },
  ]);
  const [first, second] = await onDatabase(url, 'select sealed from bodies order by segment');
  expect(first?.sealed).toEqual(sealed);
  expect(second?.sealed).toEqual(Buffer.alloc(0));
});

test('[R7] a copy that fails spoils its transaction, and nothing that comes after on the connection', async () => {
  const { link, url } = await linked();
  await link.copy(insert, [token(1)]);
  const many = Array.from({ length: 2_000 }, (_, i) => token(i, { name: 'x'.repeat(500) })); // token 1 again
  const sent = [link.exec('begin'), link.copy(insert, many), link.copy(insert, [token(9_999)])];
  const ended = link.exec('commit');
  const [, failed, aftermath] = await Promise.allSettled(sent);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '23505' } });
  expect(aftermath).toMatchObject({ status: 'rejected', reason: { code: '25P02' } });
  expect((await ended).command).toBe('ROLLBACK');
  await Promise.all([10, 20, 30].map((n) => link.copy(insert, [token(n), token(n + 1)])));
  expect(await onDatabase(url, 'select count(*) as n from tokens')).toEqual([{ n: 7 }]);
});

test('[R1] what no column can hold is refused before anything leaves', async () => {
  const { link, url } = await linked();
  await expect(link.copy(insert, [token(1), token(2, { created_at: 0.5 })])).rejects.toThrow(
    'cannot hold 0.5',
  );
  await link.copy(insert, [token(3)]);
  expect(await onDatabase(url, 'select token_id from tokens')).toEqual([{ token_id: 'token-3' }]);
});
