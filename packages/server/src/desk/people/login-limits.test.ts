import { describe, expect, test } from 'vitest';
import { SERVER } from '../../core/store.ts';
import { DAY, HOUR, SECOND } from '../../core/time.ts';
import { Browser } from '../../testing/desk/browser.ts';
import { openDesk, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

/** Behind a proxy, so that a test can come from any address. */
const PROXY = { LANTERNROOM_TRUST_PROXY: '127.0.0.1' };
const WRONG = 'not the password';

function from(world: World, address: string): Browser {
  return new Browser(world, { 'x-forwarded-for': address });
}

async function guess(browser: Browser, times: number, email?: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) statuses.push(await status(browser.login(email, WRONG)));
  return statuses;
}

describe('guessing', () => {
  test('[D3] is limited per account and address: then even the right password has to wait', async () => {
    const { world, clock } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    expect(await guess(here, 10)).toEqual(Array(10).fill(401));
    const refused = await here.login();
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get('retry-after'));
    expect(Number.isInteger(wait) && wait > 0).toBe(true);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } });
    expect(await status(from(world, '192.0.2.2').login())).toBe(200);
    clock.turn(wait * SECOND);
    expect(await status(here.login())).toBe(200);
  });

  test('[D3] counts all addresses of one IPv6 network as one, and ignores a port after an address', async () => {
    const { world } = await openDesk({ env: PROXY });
    for (let i = 0; i < 10; i++)
      expect(await guess(from(world, `2001:db8:0:1::${i.toString(16)}`), 1)).toEqual([401]);
    expect(await status(from(world, '2001:db8:0:1:ffff::').login())).toBe(429);
    expect(await status(from(world, '2001:db8:0:2::1').login())).toBe(200);
    for (let i = 0; i < 10; i++) expect(await guess(from(world, `192.0.2.1:${5000 + i}`), 1)).toEqual([401]);
    expect(await status(from(world, '::ffff:192.0.2.1').login())).toBe(429);
  });

  test('[D3] an e-mail that nobody has is limited in the same way', async () => {
    const { world } = await openDesk({ env: PROXY });
    const statuses = await guess(from(world, '192.0.2.1'), 11, 'nobody@example.com');
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  test('[D3] is limited per address, over all accounts', async () => {
    const { world } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    const statuses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => status(here.login(`person-${i}@example.com`, WRONG))),
    );
    expect(statuses).toEqual(Array(50).fill(401));
    expect(await status(here.login())).toBe(429);
    expect(await status(from(world, '192.0.2.2').login())).toBe(200);
  });

  test('[D3] is limited per account, over all addresses', async () => {
    const { world, clock } = await openDesk({ env: PROXY });
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => status(from(world, `192.0.2.${i}`).login(undefined, WRONG))),
    );
    expect(statuses).toEqual(Array(100).fill(401));
    const refused = await from(world, '198.51.100.1').login();
    expect(refused.status).toBe(429);
    clock.turn(Number(refused.headers.get('retry-after')) * SECOND);
    expect(await status(from(world, '198.51.100.1').login())).toBe(200);
  });

  test('[D54] wrong passwords from elsewhere, for whatever e-mail, keep no passkey waiting', async () => {
    const { world } = await openDesk({ env: PROXY });
    const here = '198.51.100.1';
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => guess(from(world, `192.0.2.${i}`), 1, `passkey from ${here}`)),
    );
    const answer = () => from(world, here).send('POST', '/desk/session/passkey', { response: { id: 'x' } });
    expect(await status(answer())).toBe(401);
    for (let i = 1; i < 10; i++) await answer();
    expect(await status(answer())).toBe(429);
  });

  test('[D3] whoever has many addresses cannot keep a person out from where they have logged in before', async () => {
    const { world } = await openDesk({ env: PROXY });
    const home = '198.51.100.1';
    expect(await status(from(world, home).login())).toBe(200);
    await Promise.all(Array.from({ length: 100 }, (_, i) => guess(from(world, `192.0.2.${i}`), 1)));
    expect(await status(from(world, '198.51.100.2').login())).toBe(429);
    expect(await guess(from(world, home), 10)).toEqual(Array(10).fill(401));
    expect(await status(from(world, home).login())).toBe(429);
    expect(await status(from(world, '192.0.2.1').login())).toBe(429);
  });

  test('[D3] many guesses at once are no more than the same one after the other', async () => {
    const { world } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    const statuses = await Promise.all(
      Array.from({ length: 40 }, () => status(here.login(undefined, WRONG))),
    );
    expect(statuses.filter((s) => s === 401)).toHaveLength(10);
    expect(statuses.filter((s) => s === 429)).toHaveLength(30);
  });

  test('[D3] right passwords cost nothing', async () => {
    const { world } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    expect(await guess(here, 9)).toEqual(Array(9).fill(401));
    for (let i = 0; i < 5; i++) expect(await status(here.login())).toBe(200);
    expect(await guess(here, 2)).toEqual([401, 429]);
  });

  test('[D3] the count survives a restart', async () => {
    const { world } = await openDesk({ env: PROXY });
    await guess(from(world, '192.0.2.1'), 10);
    await world.restart();
    expect(await status(from(world, '192.0.2.1').login())).toBe(429);
  });

  test('[D3] what was refused costs nothing: the wait does not grow', async () => {
    const { world, clock } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    await guess(here, 10);
    const first = (await here.login()).headers.get('retry-after');
    for (let i = 0; i < 20; i++) expect(await status(here.login(undefined, WRONG))).toBe(429);
    expect((await here.login()).headers.get('retry-after')).toBe(first);
    clock.turn(HOUR);
    expect(await status(here.login())).toBe(200);
  });

  test('[D3][D82] guesses that were refused leave nothing behind, and the others are gone after two days', async () => {
    const { world } = await openDesk({ env: PROXY });
    const here = from(world, '192.0.2.1');
    const heads = () => world.sql("select name from heads where name like 'login:%'");
    await Promise.all(Array.from({ length: 50 }, (_, i) => guess(here, 1, `person-${i}@example.com`)));
    const counted = await heads();
    expect(await guess(here, 1, 'one-more@example.com')).toEqual([429]);
    expect(await heads()).toHaveLength(counted.length);
    // PostgreSQL needs a row to lock; this one is never written.
    await world.room.store.write(SERVER, ['login:pair:only-locked'], async () => null);
    await world.tick(3 * DAY);
    expect(await heads()).toEqual([]);
  });

  test('[D3] an address that only claims to be forwarded counts as the one it is', async () => {
    const { world } = await openDesk();
    for (let i = 0; i < 10; i++) await from(world, `192.0.2.${i}`).login(undefined, WRONG);
    expect(await status(from(world, '192.0.2.99').login())).toBe(429);
  });

  test('[D3] nobody can read from the store whose password was guessed, and from where', async () => {
    const { world } = await openDesk({ env: PROXY });
    await from(world, '192.0.2.77').login('guessed@example.com', WRONG);
    const rows = await world.sql('select * from heads');
    expect(JSON.stringify(rows)).toContain('login:pair:');
    expect(JSON.stringify(rows)).not.toMatch(/guessed|192\.0\.2\.77/);
  });
});
