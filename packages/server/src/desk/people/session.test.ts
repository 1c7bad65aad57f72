import { describe, expect, test } from 'vitest';
import { orThrow } from '../../core/faults.ts';
import { SESSION_KEPT } from '../../core/people/login/login.ts';
import { addPerson } from '../../core/people/membership/add-person.ts';
import { DAY, SECOND } from '../../core/time.ts';
import { Browser, PASSWORD } from '../../testing/desk/browser.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';

const PROXY = { LANTERNROOM_TRUST_PROXY: '127.0.0.1' };
const HTTPS = { 'x-forwarded-proto': 'https' };

describe('logging in', () => {
  test('[D1] with e-mail and password opens a session, whatever the case of the address', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    const reply = await body<{ person: Record<string, unknown> }>(browser.login(' Owner@EXAMPLE.com '));
    expect(reply.person).toMatchObject({ email: 'owner@example.com', role: 'owner' });
    expect(JSON.stringify(reply)).not.toMatch(/hash|argon|digest|token/i);
    expect(await body(browser.send('GET', '/desk/session'))).toMatchObject({ space: { handle: 'home' } });
  });

  test('[D1] a wrong password, an unknown e-mail and a wrong space answer alike', async () => {
    const { world } = await openDesk();
    await world.addSpace('other');
    const tell = async (reply: Promise<Response>) => {
      const got = await reply;
      return [got.status, await got.text(), got.headers.getSetCookie(), got.headers.get('www-authenticate')];
    };
    const browser = new Browser(world);
    const wrong = await tell(browser.login('owner@example.com', 'not the password'));
    expect(wrong[0]).toBe(401);
    expect(JSON.parse(String(wrong[1]))).toMatchObject({ error: { code: 'login_failed' } });
    expect(await tell(browser.login('nobody@example.com'))).toEqual(wrong);
    expect(await tell(browser.login(undefined, PASSWORD, { handle: 'other' }))).toEqual(wrong);
    expect(await tell(browser.login(undefined, PASSWORD, { handle: 'nowhere' }))).toEqual(wrong);
  });

  test('[D1] the handle chooses between spaces with the same e-mail', async () => {
    const { world } = await openDesk();
    const other = await world.addSpace('other');
    await world.addPerson('owner@example.com', 'reader', other);
    const login = async (handle: string) =>
      (await body<{ person: { role: string } }>(new Browser(world).login(undefined, PASSWORD, { handle })))
        .person.role;
    expect([await login('home'), await login('other')]).toEqual(['owner', 'reader']);
  });

  test('[D1] without a handle the password tells whose it is, so that no other space can stand before it', async () => {
    const { world } = await openDesk();
    for (const handle of ['first', 'second', 'third']) {
      const wanted = { space: (await world.addSpace(handle)).id, role: 'owner' as const, name: null };
      const namesake = { ...wanted, email: 'owner@example.com', password: `the password of ${handle}` };
      orThrow(await addPerson(world.room, namesake, 'test'));
    }
    const login = async (password: string) => {
      const browser = new Browser(world);
      await browser.login('owner@example.com', password);
      return (await body<{ space: { handle: string } }>(browser.send('GET', '/desk/session'))).space.handle;
    };
    expect(await login(PASSWORD)).toBe('home');
    expect(await login('the password of second')).toBe('second');
    expect(await login('the password of third')).toBe('third');
    expect(await status(new Browser(world).login('owner@example.com', 'the password of none'))).toBe(401);
  });

  test('[D1] is stored as argon2id, and told in the ledger without the password', async () => {
    const { world } = await openDesk();
    const people = await world.room.store.read(world.space.id, (tx) => tx.people.list());
    expect(people[0]?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test('[D1] every login makes a new session and ends the one it was sent with', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const first = browser.cookies.get('lanternroom') ?? '';
    await browser.login();
    expect(browser.cookies.get('lanternroom')).not.toBe(first);
    const old = new Browser(world, { cookie: `lanternroom=${first}` });
    expect(await refused(old.send('GET', '/desk/session'))).toMatchObject({ code: 'session_expired' });
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
  });

  test('[D1] a wrong login ends nothing', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    expect(await status(browser.login(undefined, 'not the password'))).toBe(401);
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
  });

  test.each([
    [{ email: 'owner@example.com' }, 400],
    [{ password: PASSWORD }, 400],
    [{ email: 7, password: PASSWORD }, 422],
    [{ email: 'owner@example.com', password: ['x'] }, 422],
    [{ email: 'owner@example.com', password: 'x'.repeat(1025) }, 422],
    [[], 400],
  ])('[D1] %j is refused before anything is looked up', async (sent, expected) => {
    const { world } = await openDesk();
    expect(await status(new Browser(world).send('POST', '/desk/session', sent))).toBe(expected);
  });
});

describe('the session', () => {
  test('[D2] on plain loopback is an ordinary cookie that no script can read', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    expect(browser.set).toHaveLength(1);
    expect(browser.set[0]).toMatch(
      /^lanternroom=[0-9A-Za-z]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  test('[D2] on https is a __Host- cookie, Secure', async () => {
    const { world } = await openDesk({ env: PROXY });
    const browser = new Browser(world, HTTPS);
    await browser.login();
    expect(browser.set[0]).toMatch(
      /^__Host-lanternroom=[0-9A-Za-z]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
    expect(await status(browser.send('DELETE', '/desk/session'))).toBe(204);
    expect(browser.set[0]).toMatch(/^__Host-lanternroom=; .*Secure/);
    expect(browser.cookies.size).toBe(0);
  });

  test('[D2] under the other name is no session', async () => {
    const { world } = await openDesk({ env: PROXY });
    const browser = new Browser(world, HTTPS);
    await browser.login();
    const token = browser.cookies.get('__Host-lanternroom');
    const renamed = new Browser(world, { ...HTTPS, cookie: `lanternroom=${token}` });
    expect(await status(renamed.send('GET', '/desk/session'))).toBe(401);
  });

  test('[D2] is stored as a digest only', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const token = browser.cookies.get('lanternroom') ?? '';
    expect(await world.room.store.directory.sessionByDigest(token)).toBeNull();
    const stored = await world.room.store.directory.sessionByDigest(world.room.vault.sha256(token));
    expect(stored).toMatchObject({ person: world.owner.id });
  });

  test('[D2] ends at once when the person logs out, also elsewhere', async () => {
    const { world } = await openDesk();
    const [here, there] = [new Browser(world), new Browser(world)];
    await here.login();
    for (const [name, value] of here.cookies) there.cookies.set(name, value);
    expect(await status(here.send('DELETE', '/desk/session'))).toBe(204);
    expect(await refused(there.send('GET', '/desk/session'))).toMatchObject({
      status: 401,
      code: 'session_expired',
    });
    expect(await refused(here.send('GET', '/desk/session'))).toMatchObject({ code: 'unauthorized' });
  });

  test('[D2] ends by itself after thirty days, and its row is cleared away', async () => {
    const { world, clock } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    clock.turn(SESSION_KEPT - SECOND);
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
    clock.turn(SECOND);
    expect(await refused(browser.send('GET', '/desk/session'))).toMatchObject({ code: 'session_expired' });
    await world.tick(DAY);
    const digest = world.room.vault.sha256(browser.cookies.get('lanternroom') ?? '');
    expect(await world.room.store.directory.sessionByDigest(digest)).toBeNull();
  });

  test('[D2] survives a restart', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    await world.restart();
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
  });

  test.each(['', 'x', 'lr_x', '../../etc', 'a'.repeat(43)])('[D2] "%s" is no session', async (token) => {
    const { world } = await openDesk();
    const browser = new Browser(world, { cookie: `lanternroom=${token}` });
    expect(await status(browser.send('GET', '/desk/session'))).toBe(401);
  });
});

describe('tokens for scripts', () => {
  test('[D4] are shown once, work in place of the cookie and can be revoked', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const made = await body<{ token: string; token_id: string }>(
      browser.send('POST', '/desk/tokens', { name: 'my script' }),
    );
    expect(made.token).toMatch(/^lr_[0-9A-Za-z]{40}$/);
    const use = () => world.desk('GET', '/desk/session', undefined, made.token);
    expect(await status(use())).toBe(200);
    const listed = await (await browser.send('GET', '/desk/tokens')).text();
    expect(listed).toContain('my script');
    expect(listed).not.toContain(made.token);
    expect(await status(browser.send('DELETE', `/desk/tokens/${made.token_id}`))).toBe(200);
    expect(await refused(use())).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(await status(browser.send('DELETE', `/desk/tokens/${made.token_id}`))).toBe(404);
  });

  test('[D4] belong to one person: nobody else sees or revokes them', async () => {
    const { world } = await openDesk();
    const { token: other } = await world.addPerson('other@example.com', 'owner');
    const browser = new Browser(world);
    await browser.login();
    const made = await body<{ token_id: string }>(browser.send('POST', '/desk/tokens', { name: 'mine' }));
    const theirs = await (await world.desk('GET', '/desk/tokens', undefined, other)).text();
    expect(theirs).not.toContain(made.token_id);
    expect(await status(world.desk('DELETE', `/desk/tokens/${made.token_id}`, undefined, other))).toBe(404);
    expect(await body(world.desk('DELETE', '/desk/tokens', undefined, other))).toEqual({ revoked: 1 });
    expect(await body(browser.send('DELETE', `/desk/tokens/${made.token_id}`))).toMatchObject({});
  });

  test('[D4] end all at once, on one line of the ledger, and the session goes on', async () => {
    const { world } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    await body(browser.send('DELETE', '/desk/tokens'));
    const make = async (name: string) =>
      (await body<{ token: string }>(browser.send('POST', '/desk/tokens', { name }))).token;
    const made = [await make('one'), await make('two')];
    expect(await body(browser.send('DELETE', '/desk/tokens'))).toEqual({ revoked: 2 });
    for (const token of made)
      expect(await status(world.desk('GET', '/desk/session', undefined, token))).toBe(401);
    expect(await body(browser.send('DELETE', '/desk/tokens'))).toEqual({ revoked: 0 });
    const { entries } = await body<{ entries: { data: unknown }[] }>(
      browser.send('GET', '/desk/audit?action=token.all_revoked'),
    );
    expect(entries.map((entry) => entry.data)).toEqual([{ tokens: 2 }, { tokens: 1 }]);
  });
});
