import { describe, expect, test } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { Authenticator, type Lie } from '../../testing/desk/authenticator.ts';
import { Browser, PASSWORD } from '../../testing/desk/browser.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

type Options = { challenge: string; rp: { id: string }; rpId: string; user: { id: string } };

/** Where the world is reached by name: passkeys are never made for a bare address. */
const originOf = (world: World) => `http://localhost:${new URL(world.url).port}`;

const asked = (browser: Browser, path: string) => body<Options>(browser.send('POST', path, {}));

async function withPasskey(name = 'laptop') {
  const { world, clock } = await openDesk();
  const browser = new Browser(world);
  await browser.login();
  const device = new Authenticator(originOf(world));
  const options = await asked(browser, '/desk/passkeys/challenge');
  const made = await body<{ passkey_id: string }>(
    browser.send('POST', '/desk/passkeys', { name, response: device.make(options) }),
  );
  return { world, clock, browser, device, options, made };
}

async function logIn(world: World, device: Authenticator, lie: Lie = {}) {
  const browser = new Browser(world);
  const response = device.prove(await asked(browser, '/desk/session/challenge'), lie);
  const reply = await browser.send('POST', '/desk/session/passkey', { response });
  return { browser, reply, response };
}

const actions = async (world: World) =>
  (await body<{ entries: { action: string }[] }>(world.desk('GET', '/desk/audit'))).entries.map(
    (e) => e.action,
  );

describe('a passkey', () => {
  test('[D54] is made, named, renamed and listed, and its credential is nowhere in the open', async () => {
    const { world, browser, device, made } = await withPasskey();
    expect(made).toMatchObject({ name: 'laptop', backed_up: false, last_used_at: null });
    const at = `/desk/passkeys/${made.passkey_id}`;
    expect(await status(browser.send('PUT', at, { name: 'The old laptop' }))).toBe(204);
    const listed = await body<{ passkeys: { name: string }[]; origin: string }>(
      browser.send('GET', '/desk/passkeys'),
    );
    expect(listed.passkeys.map((k) => k.name)).toEqual(['The old laptop']);
    expect(listed.origin).toBe(originOf(world));
    expect(JSON.stringify(listed)).not.toContain(device.id);
    const [stored] = await world.room.store.read(world.space.id, (tx) => tx.passkeys.of(world.owner.id));
    expect(Buffer.from(stored?.credential ?? []).toString('latin1')).not.toContain(device.id);
    expect(stored?.digest).toBe(world.room.vault.sha256(device.id));
    expect(await actions(world)).toEqual(expect.arrayContaining(['passkey.added', 'passkey.renamed']));
  });

  test('[D54] logs its person in without e-mail or password, also after a restart', async () => {
    const { world, device } = await withPasskey();
    await world.restart();
    const moved = new Authenticator(originOf(world));
    expect(moved.id).not.toBe(device.id);
    const { browser, reply } = await logIn(world, device, { origin: originOf(world) });
    expect(await body(Promise.resolve(reply))).toMatchObject({ person: { email: 'owner@example.com' } });
    expect(await status(browser.send('GET', '/desk/session'))).toBe(200);
    const listed = await body<{ passkeys: { last_used_at: string | null }[] }>(
      browser.send('GET', '/desk/passkeys'),
    );
    expect(listed.passkeys[0]?.last_used_at).not.toBeNull();
  });

  test.each<[string, Lie]>([
    ['from another origin', { origin: 'https://evil.example.com' }],
    ['from the bare address', { origin: 'http://127.0.0.1' }],
    ['for another party', { rpId: 'evil.example.com' }],
    ['without knowing the person', { unverified: true }],
    ['with a broken signature', { signature: true }],
    ['with a counter that went back', { counter: 1 }],
    ['with the handle of somebody else', { userHandle: Buffer.from('sp_x:pe_x').toString('base64url') }],
  ])('[D54] %s is refused like one that nobody knows', async (_, lie) => {
    const { world, device } = await withPasskey();
    await logIn(world, device);
    const stranger = await logIn(world, new Authenticator(originOf(world)));
    const { browser, reply } = await logIn(world, device, lie);
    expect(reply.status).toBe(401);
    expect(await reply.text()).toBe(await stranger.reply.text());
    expect(browser.cookies.size).toBe(0);
    expect((await logIn(world, device)).reply.status).toBe(200);
  });

  test('[D54] a challenge is answered once, within five minutes, and for what it was given out', async () => {
    const { world, clock, browser, device } = await withPasskey();
    const { response } = await logIn(world, device);
    expect(await status(browser.send('POST', '/desk/session/passkey', { response }))).toBe(401);
    const late = device.prove(await asked(browser, '/desk/session/challenge'));
    clock.turn(300 * SECOND);
    expect(await status(browser.send('POST', '/desk/session/passkey', { response: late }))).toBe(401);
    const other = device.prove(await asked(browser, '/desk/proof/challenge'));
    expect(await status(browser.send('POST', '/desk/session/passkey', { response: other }))).toBe(401);
    const made = new Authenticator(originOf(world));
    const forLogin = { ...(await asked(browser, '/desk/session/challenge')), rp: { id: 'localhost' } };
    expect(
      await refused(browser.send('POST', '/desk/passkeys', { name: 'x', response: made.make(forLogin) })),
    ).toMatchObject({ status: 422, field: 'response' });
  });

  test('[D54] making one twice with one challenge, or another’s, or the same device again, is refused', async () => {
    const { world, browser, device, options } = await withPasskey();
    const second = new Authenticator(originOf(world));
    const again = browser.send('POST', '/desk/passkeys', { name: 'second', response: second.make(options) });
    expect(await refused(again)).toMatchObject({ status: 422, field: 'response' });
    const same = device.make(await asked(browser, '/desk/passkeys/challenge'));
    expect(await status(browser.send('POST', '/desk/passkeys', { name: 'same', response: same }))).toBe(422);
    await world.addPerson('other@example.com', 'reader');
    const other = new Browser(world);
    await other.login('other@example.com');
    const mine = second.make(await asked(browser, '/desk/passkeys/challenge'));
    expect(await status(other.send('POST', '/desk/passkeys', { name: 'theirs', response: mine }))).toBe(422);
    const listed = await body<{ passkeys: object[] }>(browser.send('GET', '/desk/passkeys'));
    expect(listed.passkeys).toHaveLength(1);
  });

  test('[D54] that was removed logs nobody in, and belongs to its person alone', async () => {
    const { world, browser, device, made } = await withPasskey();
    await world.addPerson('other@example.com', 'owner');
    const other = new Browser(world);
    await other.login('other@example.com');
    const at = `/desk/passkeys/${made.passkey_id}`;
    expect(await status(other.send('DELETE', at))).toBe(404);
    expect(await status(other.send('PUT', at, { name: 'mine now' }))).toBe(404);
    expect(await status(browser.send('DELETE', at))).toBe(204);
    expect(await status(browser.send('DELETE', at))).toBe(404);
    expect((await logIn(world, device)).reply.status).toBe(401);
    expect(await actions(world)).toContain('passkey.removed');
  });

  test.each([{}, { response: null }, { response: 'x' }, { response: {} }, { response: { id: 7 } }])(
    '[D54] %j as an answer is refused, and nothing breaks',
    async (sent) => {
      const { world } = await openDesk();
      expect([400, 401, 422]).toContain(
        await status(new Browser(world).send('POST', '/desk/session/passkey', sent)),
      );
    },
  );

  test('[D54] wrong answers are limited by address', async () => {
    const { world, device } = await withPasskey();
    for (let i = 0; i < 10; i++) {
      expect((await logIn(world, device, { signature: true })).reply.status).toBe(401);
    }
    const { reply } = await logIn(world, device);
    expect(reply.status).toBe(429);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a way in of one’s own', () => {
  test('[D55] a token outlives the session, so it needs the same proof, and no token makes another', async () => {
    const { world, clock } = await openDesk();
    const browser = new Browser(world);
    await browser.login();
    const make = () => browser.send('POST', '/desk/tokens', { name: 'nightly' });
    const { token } = await body<{ token: string }>(make());
    clock.turn(600 * SECOND);
    expect(await refused(make())).toMatchObject({ status: 403, code: 'proof_needed' });
    expect(await status(browser.send('POST', '/desk/proof', { password: PASSWORD }))).toBe(204);
    expect(await status(make())).toBe(201);
    const byToken = world.desk('POST', '/desk/tokens', { name: 'another' }, token);
    expect(await refused(byToken)).toMatchObject({ status: 403, code: 'proof_needed' });
    const besideOne = browser.send(
      'POST',
      '/desk/tokens',
      { name: 'x' },
      { authorization: `Bearer ${token}` },
    );
    expect(await refused(besideOne)).toMatchObject({ status: 403, code: 'proof_needed' });
    const { tokens } = await body<{ tokens: { name: string }[] }>(browser.send('GET', '/desk/tokens'));
    expect(tokens.map(({ name }) => name).sort()).toEqual(['nightly', 'nightly', 'test']);
  });

  test('[D55] needs a login or proof of the last ten minutes, by password or by passkey', async () => {
    const { clock, browser, device } = await withPasskey();
    const ask = () => refused(browser.send('POST', '/desk/passkeys/challenge', {}));
    clock.turn(600 * SECOND);
    expect(await ask()).toMatchObject({ status: 403, code: 'proof_needed' });
    const wrong = browser.send('POST', '/desk/proof', { password: 'not the password' });
    expect(await refused(wrong)).toMatchObject({ status: 422, field: 'password' });
    expect(await ask()).toMatchObject({ code: 'proof_needed' });
    expect(await status(browser.send('POST', '/desk/proof', { password: PASSWORD }))).toBe(204);
    await asked(browser, '/desk/passkeys/challenge');
    clock.turn(600 * SECOND);
    const response = device.prove(await asked(browser, '/desk/proof/challenge'));
    expect(await status(browser.send('POST', '/desk/proof', { response }))).toBe(204);
    await asked(browser, '/desk/passkeys/challenge');
  });

  test('[D55] a script’s token proves nothing, and somebody else’s passkey neither', async () => {
    const { world, device } = await withPasskey();
    expect(await refused(world.desk('POST', '/desk/passkeys/challenge', {}))).toMatchObject({
      code: 'proof_needed',
    });
    expect(await refused(world.desk('POST', '/desk/proof', { password: PASSWORD }))).toMatchObject({
      code: 'proof_needed',
    });
    await world.addPerson('other@example.com', 'reader');
    const other = new Browser(world);
    await other.login('other@example.com');
    const response = device.prove(await asked(other, '/desk/proof/challenge'));
    expect(await status(other.send('POST', '/desk/proof', { response }))).toBe(401);
  });

  test('[D55] a proof is of the person who asks: a token beside somebody else’s session is no proof', async () => {
    const { world, clock, browser, device } = await withPasskey();
    const { token } = await world.addPerson('other@example.com', 'reader');
    const other = new Browser(world);
    await other.login('other@example.com');
    const asOwner = { authorization: `Bearer ${world.token}` };
    const asOther = { authorization: `Bearer ${token}` };

    // Who found a token cannot make a passkey of it, whoever they have logged in as.
    const made = other.send('POST', '/desk/passkeys/challenge', {}, asOwner);
    expect(await refused(made)).toMatchObject({ status: 403, code: 'proof_needed' });

    // Nor can who sits at an unlocked desk prove it with a password or passkey of their own.
    clock.turn(600 * SECOND);
    const theirs = new Authenticator(originOf(world));
    expect(await status(other.send('POST', '/desk/proof', { password: PASSWORD }))).toBe(204);
    const options = await asked(other, '/desk/passkeys/challenge');
    await body(other.send('POST', '/desk/passkeys', { name: 'phone', response: theirs.make(options) }));
    const challenge = await body<Options>(browser.send('POST', '/desk/proof/challenge', {}, asOther));
    const own = [{ password: PASSWORD }, { response: theirs.prove(challenge) }];
    for (const proof of own)
      expect(await refused(browser.send('POST', '/desk/proof', proof, asOther))).toMatchObject({
        status: 403,
        code: 'proof_needed',
      });
    expect(await refused(browser.send('POST', '/desk/passkeys/challenge', {}))).toMatchObject({
      code: 'proof_needed',
    });
    const response = device.prove(await asked(browser, '/desk/proof/challenge'));
    expect(await status(browser.send('POST', '/desk/proof', { response }))).toBe(204);
  });

  test('[D56] an owner resets a person: everything ends at once, and the link makes a new password, once', async () => {
    const { world } = await withPasskey();
    const { person, token } = await world.addPerson('other@example.com', 'decider');
    const other = new Browser(world);
    await other.login('other@example.com');
    const device = new Authenticator(originOf(world));
    const options = await asked(other, '/desk/passkeys/challenge');
    await body(other.send('POST', '/desk/passkeys', { name: 'phone', response: device.make(options) }));

    const reset = await body<{ link: string }>(world.desk('POST', `/desk/people/${person.id}/reset`, {}));
    expect(await status(other.send('GET', '/desk/session'))).toBe(401);
    expect(await status(world.desk('GET', '/desk/session', undefined, token))).toBe(401);
    expect(await status(new Browser(world).login('other@example.com'))).toBe(401);
    expect((await logIn(world, device)).reply.status).toBe(401);

    const link = reset.link.split('#')[1];
    const complete = (password: string) =>
      new Browser(world).send('POST', '/desk/reset', { token: link, password });
    expect(await status(complete('short'))).toBe(422);
    expect(await status(complete('a whole new sentence'))).toBe(201);
    expect(await refused(complete('and another sentence'))).toMatchObject({
      status: 410,
      code: 'invitation_closed',
    });
    expect(await status(new Browser(world).login('other@example.com', 'a whole new sentence'))).toBe(200);
    expect(await actions(world)).toEqual(expect.arrayContaining(['person.reset', 'password.reset']));
  });

  test('[D56] a reset is for owners, not for oneself, ends after a day, and a new link ends the old one', async () => {
    const { world, clock } = await openDesk();
    const { person, token } = await world.addPerson('other@example.com', 'decider');
    const reset = (id: string, by?: string) => world.desk('POST', `/desk/people/${id}/reset`, {}, by);
    expect(await refused(reset(world.owner.id, token))).toMatchObject({ status: 403 });
    expect(await refused(reset(world.owner.id))).toMatchObject({ status: 422 });
    expect(await refused(reset('pe_nobody'))).toMatchObject({ status: 404 });
    const [first, second] = [
      await body<{ link: string }>(reset(person.id)),
      await body<{ link: string }>(reset(person.id)),
    ];
    const use = (link: string) =>
      status(
        new Browser(world).send('POST', '/desk/reset', {
          token: link.split('#')[1],
          password: 'a whole new sentence',
        }),
      );
    expect(await use(first.link)).toBe(410);
    clock.turn(86_400 * SECOND);
    expect(await use(second.link)).toBe(410);
  });

  test('[D45] signing out everywhere else ends all sessions but this one', async () => {
    const { world } = await openDesk();
    const [here, there, elsewhere] = [new Browser(world), new Browser(world), new Browser(world)];
    for (const browser of [here, there, elsewhere]) await browser.login();
    expect(await body(here.send('DELETE', '/desk/sessions'))).toEqual({ ended: 2 });
    expect(await status(there.send('GET', '/desk/session'))).toBe(401);
    expect(await status(elsewhere.send('GET', '/desk/session'))).toBe(401);
    expect(await status(here.send('GET', '/desk/session'))).toBe(200);
    expect(await body(here.send('DELETE', '/desk/sessions'))).toEqual({ ended: 0 });
  });
});
