import { describe, expect, test } from 'vitest';
import { closeSetup, openSetup } from '../../core/people/membership/setup.ts';
import { DAY, SECOND } from '../../core/time.ts';
import { Browser } from '../../testing/desk/browser.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';

const OWNER = { email: 'first@example.com', name: 'Fay First', password: 'a long enough password' };
const CLOSED = { status: 410, code: 'setup_closed' };

describe('the setup link', () => {
  test('[D8] makes the first owner and logs them in, once', async () => {
    const { world } = await openDesk();
    const { token } = await openSetup(world.room);
    const browser = new Browser(world);
    const reply = await browser.send('POST', '/desk/setup', { token, ...OWNER });
    expect(reply.status).toBe(201);
    expect(await reply.json()).toMatchObject({
      person: { email: OWNER.email, name: OWNER.name, role: 'owner' },
    });
    expect(await body(browser.send('GET', '/desk/session'))).toMatchObject({ person: { role: 'owner' } });
    const again = { ...OWNER, email: 'second@example.com', token };
    expect(await refused(new Browser(world).send('POST', '/desk/setup', again))).toMatchObject(CLOSED);
  });

  test('[D8] one that was used sends people to the login: no start shows a link beside an owner', async () => {
    const { world } = await openDesk();
    const { token } = await openSetup(world.room);
    const use = (email: string) => new Browser(world).send('POST', '/desk/setup', { ...OWNER, token, email });
    expect((await use(OWNER.email)).status).toBe(201);
    const message = expect.stringContaining('If there is an owner already, log in;');
    const { error } = await (await use('second@example.com')).json();
    expect(error).toMatchObject({ code: CLOSED.code, message });
  });

  test('[D8] works for a day', async () => {
    const { world, clock } = await openDesk();
    const { token } = await openSetup(world.room);
    clock.turn(DAY);
    expect(await refused(new Browser(world).send('POST', '/desk/setup', { token, ...OWNER }))).toMatchObject(
      CLOSED,
    );
    const { token: next } = await openSetup(world.room);
    expect(next).not.toBe(token);
    clock.turn(DAY - SECOND);
    expect(await status(new Browser(world).send('POST', '/desk/setup', { token: next, ...OWNER }))).toBe(201);
  });

  test('[D8] stays the same until it ends, for every start and every replica', async () => {
    const { world, clock } = await openDesk();
    const first = await openSetup(world.room);
    expect(first).toMatchObject({ left: DAY, isShownBefore: false });
    clock.turn(SECOND);
    const [again, beside] = await Promise.all([openSetup(world.room), openSetup(world.room)]);
    expect([again, beside]).toEqual(Array(2).fill({ ...first, left: DAY - SECOND, isShownBefore: true }));
    await world.restart();
    const { token } = await openSetup(world.room);
    expect(token).toBe(first.token);
    expect(await status(new Browser(world).send('POST', '/desk/setup', { token, ...OWNER }))).toBe(201);
  });

  test('[D8] one that was used is not shown again', async () => {
    const { world, clock } = await openDesk();
    const { token } = await openSetup(world.room);
    await closeSetup(world.room);
    clock.turn(SECOND);
    const next = await openSetup(world.room);
    expect(next.isShownBefore).toBe(false);
    expect(next.token).not.toBe(token);
  });

  test('[D8] an owner who was made on the command line ends it', async () => {
    const { world } = await openDesk();
    const { token } = await openSetup(world.room);
    await closeSetup(world.room);
    expect(await refused(new Browser(world).send('POST', '/desk/setup', { token, ...OWNER }))).toMatchObject(
      CLOSED,
    );
  });

  test('[D8] of two people who use it at once one gets in', async () => {
    const { world } = await openDesk();
    const { token } = await openSetup(world.room);
    const use = (email: string) =>
      status(new Browser(world).send('POST', '/desk/setup', { ...OWNER, token, email }));
    expect((await Promise.all([use('a@example.com'), use('b@example.com')])).sort()).toEqual([201, 410]);
    const people = await world.room.store.read(world.space.id, (tx) => tx.people.list());
    expect(people).toHaveLength(2);
  });

  test.each([
    [{ password: 'short' }, 422],
    [{ email: 'nobody' }, 422],
    [{ email: 'owner@example.com' }, 409],
    [{ password: undefined }, 400],
  ])('[D8] a mistake (%j) does not use it up', async (mistake, expected) => {
    const { world } = await openDesk();
    const { token } = await openSetup(world.room);
    const send = (over: object) =>
      new Browser(world).send('POST', '/desk/setup', { token, ...OWNER, ...over });
    expect(await status(send(mistake))).toBe(expected);
    expect(await status(send({}))).toBe(201);
  });

  test.each(['st_guess', '', ' ', 'x'.repeat(500)])('[D8] "%s" is no setup link', async (token) => {
    const { world } = await openDesk();
    await openSetup(world.room);
    const reply = await new Browser(world).send('POST', '/desk/setup', { token, ...OWNER });
    expect([410, 422]).toContain(reply.status);
    expect(reply.headers.getSetCookie()).toEqual([]);
  });

  test('[D8] without an open link there is no way to become the owner', async () => {
    const { world } = await openDesk();
    const reply = new Browser(world).send('POST', '/desk/setup', { token: 'st_x', ...OWNER });
    expect(await refused(reply)).toMatchObject(CLOSED);
  });
});
