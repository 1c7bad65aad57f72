import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/faults.ts';
import { addByOwner, changeRole, invite, removePerson } from '../../core/people/membership/membership.ts';
import { resetPerson } from '../../core/people/membership/reset.ts';
import { DAY } from '../../core/time.ts';
import { Browser } from '../../testing/desk/browser.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

type Invited = { invitation_id: string; email: string; role: string; link: string; expires_at: string };
const PASSWORD = 'a fresh long password';

function inviteAs(world: World, email: string, role: string): Promise<Invited> {
  return body<Invited>(world.desk('POST', '/desk/invitations', { email, role }));
}

const tokenOf = (invited: Invited) => new URL(invited.link).hash.slice(1);

/** As the page of the link does: no session, only the token. */
function join(world: World, token: string, over: Record<string, unknown> = {}): Promise<Response> {
  return fetch(`${world.url}/desk/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password: PASSWORD, ...over }),
  });
}

async function people(world: World): Promise<{ person_id: string; email: string; role: string }[]> {
  return (
    await body<{ people: { person_id: string; email: string; role: string }[] }>(
      world.desk('GET', '/desk/people'),
    )
  ).people;
}

describe('invitations', () => {
  test('[D43][W9] nobody has a name or an address that drives a terminal or turns a line around', async () => {
    const { world } = await openDesk();
    const invited = await inviteAs(world, 'new@example.com', 'reader');
    for (const name of ['Olga\u202eOwner', 'Olga\nOwner approved', '\u001b]0;Olga\u0007'])
      expect(await refused(join(world, tokenOf(invited), { name }))).toMatchObject({ status: 422 });
    const odd = { email: 'a\u001b[2J@example.com', role: 'reader' };
    expect(await refused(world.desk('POST', '/desk/invitations', odd))).toMatchObject({ status: 422 });
    const browser = new Browser(world);
    await browser.login();
    for (const path of ['/desk/tokens', '/desk/producers'])
      expect(await refused(browser.send('POST', path, { name: 'a\u009b2Jb' }))).toMatchObject({
        status: 422,
      });
    expect((await join(world, tokenOf(invited), { name: 'Olga' })).status).toBe(201);
  });

  test('[D43] a link makes one person, with that address and role, and logs them in', async () => {
    const { world } = await openDesk();
    const invited = await inviteAs(world, 'New@Example.com', 'decider');
    expect(invited.link).toMatch(/\/join#inv_[0-9A-Za-z]{40}$/);
    const reply = await join(world, tokenOf(invited), { name: 'Nina' });
    expect(reply.status).toBe(201);
    expect(await reply.json()).toMatchObject({
      person: { email: 'new@example.com', name: 'Nina', role: 'decider' },
    });
    const cookie = reply.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const session = await fetch(`${world.url}/desk/session`, { headers: { cookie } });
    expect(session.status).toBe(200);
  });

  test('[D43] an address is the same however it is written: nobody looks like somebody else, and a pasted one logs in', async () => {
    const { world } = await openDesk();
    const twin = { email: 'owner@example.com\u200b', role: 'reader' };
    expect(await status(world.desk('POST', '/desk/invitations', twin))).toBe(409);
    const invited = await inviteAs(world, 'Jose\u0301@example.com', 'reader');
    expect(invited.email).toBe('jos\u00e9@example.com');
    await join(world, tokenOf(invited));
    expect(await status(new Browser(world).login('\u2060Jos\u00e9@example.com', PASSWORD))).toBe(200);
  });

  test('[D43] works once, also when two open it at the same moment', async () => {
    const { world } = await openDesk();
    const token = tokenOf(await inviteAs(world, 'n@example.com', 'reader'));
    const replies = await Promise.all([join(world, token), join(world, token)]);
    expect(replies.map((r) => r.status).sort()).toEqual([201, 410]);
    expect(await refused(join(world, token))).toEqual({ status: 410, code: 'invitation_closed' });
    expect((await people(world)).filter((p) => p.email === 'n@example.com')).toHaveLength(1);
  });

  test('[D43] lives for seven days, and no link answers otherwise than an unknown one', async () => {
    const { world, clock } = await openDesk();
    const token = tokenOf(await inviteAs(world, 'n@example.com', 'reader'));
    clock.turn(7 * DAY);
    const late = await (await join(world, token)).json();
    const unknown = await (await join(world, 'inv_nobody')).json();
    expect(late).toEqual(unknown);
    expect(await body(world.desk('GET', '/desk/invitations'))).toEqual({ invitations: [] });
  });

  test('[D43] can be taken back, and a new one for the same address ends the old', async () => {
    const { world } = await openDesk();
    const first = await inviteAs(world, 'n@example.com', 'reader');
    const second = await inviteAs(world, 'n@example.com', 'decider');
    expect(await status(join(world, tokenOf(first)))).toBe(410);
    const { invitations } = await body<{ invitations: Invited[] }>(world.desk('GET', '/desk/invitations'));
    expect(invitations.map((i) => i.invitation_id)).toEqual([second.invitation_id]);
    expect(invitations[0]).not.toHaveProperty('link');
    expect(await status(world.desk('DELETE', `/desk/invitations/${second.invitation_id}`))).toBe(204);
    expect(await status(world.desk('DELETE', `/desk/invitations/${second.invitation_id}`))).toBe(404);
    expect(await status(join(world, tokenOf(second)))).toBe(410);
  });

  test('[D43][D44][D56] the links that an owner gave out end when they are removed, reset or no owner any more', async () => {
    const { world } = await openDesk();
    const link = (by: string, path: string, wanted: object) =>
      body<Invited>(world.desk('POST', path, wanted, by)).then(tokenOf);
    const invite = (by: string, email: string) => link(by, '/desk/invitations', { email, role: 'owner' });
    const kept = tokenOf(await inviteAs(world, 'kept@example.com', 'reader'));
    const colleague = await world.addPerson('colleague@example.com', 'decider');
    for (const [email, end] of [
      ['removed@example.com', (at: string) => world.desk('DELETE', at)],
      ['reset@example.com', (at: string) => world.desk('POST', `${at}/reset`, {})],
      ['lower@example.com', (at: string) => world.desk('PUT', at, { role: 'decider' })],
    ] as const) {
      const giver = await world.addPerson(email, 'owner');
      const back = await invite(giver.token, `friend-of-${email}`);
      const stolen = await link(giver.token, `/desk/people/${colleague.person.id}/reset`, {});
      expect(await status(end(`/desk/people/${giver.person.id}`))).toBeLessThan(300);
      expect(await refused(join(world, back))).toEqual({ status: 410, code: 'invitation_closed' });
      const used = new Browser(world).send('POST', '/desk/reset', { token: stolen, password: PASSWORD });
      expect(await refused(used)).toMatchObject({ status: 410 });
    }
    const { entries } = await body<{ entries: unknown[] }>(
      world.desk('GET', '/desk/audit?action=invitation.revoked'),
    );
    expect(entries).toHaveLength(3);
    expect(await status(join(world, kept))).toBe(201);
  });

  test('[D43] only the digest is kept', async () => {
    const { world } = await openDesk();
    const token = tokenOf(await inviteAs(world, 'n@example.com', 'reader'));
    const stored = await world.room.store.read(world.space.id, (tx) => tx.invitations.open());
    expect(JSON.stringify(stored)).not.toContain(token.slice(4));
    expect(await (await world.desk('GET', '/desk/audit')).text()).not.toContain(token.slice(4));
  });

  test('[D43] is an owner’s to give, for an address that is not here yet', async () => {
    const { world } = await openDesk();
    const decider = await world.addPerson('d@example.com', 'decider');
    const wanted = { email: 'n@example.com', role: 'reader' };
    expect(await status(world.desk('POST', '/desk/invitations', wanted, decider.token))).toBe(403);
    expect(await status(world.desk('GET', '/desk/invitations', undefined, decider.token))).toBe(403);
    const taken = await refused(
      world.desk('POST', '/desk/invitations', { ...wanted, email: 'd@example.com' }),
    );
    expect(taken).toMatchObject({ status: 409, code: 'name_taken', field: 'email' });
    const wrong = await refused(world.desk('POST', '/desk/invitations', { ...wanted, email: 'nobody' }));
    expect(wrong).toMatchObject({ status: 422, field: 'email' });
    const short = await refused(
      join(world, tokenOf(await inviteAs(world, 'n@example.com', 'reader')), { password: 'x' }),
    );
    expect(short).toMatchObject({ status: 422, field: 'password' });
  });
});

describe('roles and leaving', () => {
  test('[D44] an owner changes roles, and it holds at once', async () => {
    const { world } = await openDesk();
    const { person, token } = await world.addPerson('p@example.com', 'reader');
    const id = await world.deliver();
    expect(await status(world.decide(id, { status: 'approved' }, token))).toBe(403);
    const changed = await body(world.desk('PUT', `/desk/people/${person.id}`, { role: 'decider' }));
    expect(changed).toMatchObject({ person_id: person.id, role: 'decider' });
    expect(await status(world.decide(id, { status: 'approved' }, token))).toBe(200);
  });

  test('[D44] a person who is removed is out at once, with sessions and tokens; their decisions keep the name', async () => {
    const { world } = await openDesk();
    const { person, token } = await world.addPerson('leaver@example.com', 'decider');
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' }, token);
    const login = () =>
      fetch(`${world.url}/desk/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'leaver@example.com', password: 'correct horse battery' }),
      });
    const cookie = (await login()).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect(await status(world.desk('DELETE', `/desk/people/${person.id}`))).toBe(204);
    expect(await status(world.desk('GET', '/desk/session', undefined, token))).toBe(401);
    expect(await status(fetch(`${world.url}/desk/session`, { headers: { cookie } }))).toBe(401);
    expect(await status(login())).toBe(401);
    expect((await people(world)).map((p) => p.email)).toEqual(['owner@example.com']);
    const { decision } = await body<{ decision: { decided_by: { name: string } } }>(
      world.desk('GET', `/desk/deliveries/${id}`),
    );
    expect(decision.decided_by.name).toBe('leaver');
    expect(await status(world.desk('DELETE', `/desk/people/${person.id}`))).toBe(404);
  });

  test('[D44] the address of a removed person is free again', async () => {
    const { world } = await openDesk();
    const { person } = await world.addPerson('again@example.com', 'reader');
    await world.desk('DELETE', `/desk/people/${person.id}`);
    const invited = await inviteAs(world, 'again@example.com', 'owner');
    expect(await status(join(world, tokenOf(invited)))).toBe(201);
  });

  test('[D44] the last owner stays, and stays owner', async () => {
    const { world } = await openDesk();
    const path = `/desk/people/${world.owner.id}`;
    const lastOwner = { status: 409, code: 'last_owner' };
    expect(await refused(world.desk('PUT', path, { role: 'reader' }))).toEqual(lastOwner);
    expect(await refused(world.desk('DELETE', path))).toEqual(lastOwner);
    expect(await status(world.desk('PUT', path, { role: 'owner' }))).toBe(200);
    const second = await world.addPerson('second@example.com', 'owner');
    expect(await status(world.desk('PUT', path, { role: 'reader' }))).toBe(200);
    expect(await status(world.desk('DELETE', path, undefined, second.token))).toBe(204);
  });

  test('[D44] two owners who remove each other at once: one stays', async () => {
    const { world } = await openDesk();
    const second = await world.addPerson('second@example.com', 'owner');
    const replies = await Promise.all([
      world.desk('DELETE', `/desk/people/${second.person.id}`),
      world.desk('DELETE', `/desk/people/${world.owner.id}`, undefined, second.token),
    ]);
    // Who comes second is either gone already, or is told that the other is the last owner.
    expect(
      replies.map((r) => (r.status === 204 ? 'done' : r.status === 401 || r.status === 409)).sort(),
    ).toEqual(['done', true]);
    const left = await world.room.store.read(world.space.id, (tx) => tx.people.list());
    expect(left).toHaveLength(1);
  });

  test('[D44] is for owners, and foreign people are unknown', async () => {
    const { world } = await openDesk();
    const decider = await world.addPerson('d@example.com', 'decider');
    const stranger = await world.addPerson('s@example.com', 'reader', await world.addSpace('other'));
    const role = { role: 'reader' };
    expect(await status(world.desk('PUT', `/desk/people/${decider.person.id}`, role, decider.token))).toBe(
      403,
    );
    expect(await status(world.desk('PUT', `/desk/people/${stranger.person.id}`, role))).toBe(404);
    expect(await status(world.desk('DELETE', `/desk/people/${stranger.person.id}`))).toBe(404);
    expect(
      await refused(world.desk('PUT', `/desk/people/${decider.person.id}`, { role: 'king' })),
    ).toMatchObject({
      status: 422,
      field: 'role',
    });
  });
});

describe('an owner who is none any more', () => {
  const ends: [string, (world: World, id: string) => Promise<unknown>][] = [
    ['removed', (world, id) => removePerson(world.room, world.owner, id)],
    ['reset', (world, id) => resetPerson(world.room, world.owner, id)],
    ['made a decider', (world, id) => changeRole(world.room, world.owner, id, 'decider')],
  ];

  test.each(ends)(
    '[W28][D7] gives nobody a way in by what was under way when they were %s',
    async (_, end) => {
      const { world } = await openDesk();
      const { room, owner } = world;
      const { person: other } = await world.addPerson('other@example.com', 'owner');
      const { person: friend } = await world.addPerson('friend@example.com', 'reader');
      // They were let in before; hashing a password takes its time.
      const hash = async (password: string) => {
        await end(world, other.id);
        return room.passwords.hash(password);
      };
      const slow = { ...room, passwords: { ...room.passwords, hash } };
      const added = { email: 'new@example.com', name: null, role: 'owner' as const, password: PASSWORD };
      const outcomes = [
        await addByOwner(slow, other, added),
        await invite(room, other, { email: 'guest@example.com', role: 'owner' }),
        await changeRole(room, other, friend.id, 'owner'),
        await resetPerson(room, other, owner.id),
        await removePerson(room, other, owner.id),
      ];
      for (const outcome of outcomes)
        expect(['session_expired', 'role_too_low']).toContain((outcome as Fault).fault);
      const owners = (await people(world)).filter(({ role }) => role === 'owner').map(({ email }) => email);
      expect(owners).not.toContain('new@example.com');
      expect(owners).not.toContain('friend@example.com');
      expect(await body(world.desk('GET', '/desk/invitations'))).toEqual({ invitations: [] });
    },
  );
});
