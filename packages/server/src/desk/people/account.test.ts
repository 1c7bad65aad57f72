import { describe, expect, test } from 'vitest';
import { HOUR } from '../../core/time.ts';
import { body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

const OLD = 'correct horse battery';
const FRESH = 'staple and a new one';

function login(world: World, password: string, userAgent = 'curl/8'): Promise<Response> {
  return fetch(`${world.url}/desk/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': userAgent },
    body: JSON.stringify({ email: 'owner@example.com', password }),
  });
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

async function cookieOf(reply: Promise<Response>): Promise<string> {
  return (await reply).headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

function asPage(
  world: World,
  cookie: string,
  method: string,
  path: string,
  sent?: unknown,
): Promise<Response> {
  return fetch(world.url + path, {
    method,
    headers: { cookie, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  });
}

type Sessions = {
  sessions: { session_id: string; created_at: string; device: string | null; current: boolean }[];
};

describe('the password', () => {
  test('[D45] changes with the current one, and ends the other sessions but not this', async () => {
    const { world } = await openDesk();
    const here = await cookieOf(login(world, OLD));
    const there = await cookieOf(login(world, OLD));
    const change = { current: OLD, password: FRESH };
    expect(await status(asPage(world, here, 'PUT', '/desk/password', change))).toBe(204);
    expect(await status(asPage(world, here, 'GET', '/desk/session'))).toBe(200);
    expect(await status(asPage(world, there, 'GET', '/desk/session'))).toBe(401);
    expect(await status(login(world, OLD))).toBe(401);
    expect(await status(login(world, FRESH))).toBe(200);
  });

  test('[D45] stays when the current one is wrong or the new one too short', async () => {
    const { world } = await openDesk();
    const put = (change: unknown) => refused(world.desk('PUT', '/desk/password', change));
    expect(await put({ current: 'wrong', password: FRESH })).toMatchObject({ status: 422, field: 'current' });
    expect(await put({ current: OLD, password: 'short' })).toMatchObject({ status: 422, field: 'password' });
    expect(await status(login(world, OLD))).toBe(200);
  });

  test('[D45] guessing the current one is limited like the login', async () => {
    const { world } = await openDesk();
    const guess = () => world.desk('PUT', '/desk/password', { current: 'wrong', password: FRESH });
    for (let i = 0; i < 10; i++) expect(await status(guess())).toBe(422);
    const limited = await guess();
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await status(login(world, OLD))).toBe(429);
  });
});

describe('sessions', () => {
  test('[D45] are listed newest first, this one marked, and end one by one', async () => {
    const { world, clock } = await openDesk();
    const first = await cookieOf(login(world, OLD));
    clock.turn(HOUR);
    const second = await cookieOf(login(world, OLD));
    const { sessions } = await body<Sessions>(asPage(world, second, 'GET', '/desk/sessions'));
    expect(sessions.map((s) => [s.created_at.slice(11, 16), s.current])).toEqual([
      ['10:00', true],
      ['09:00', false],
    ]);
    const old = sessions[1]?.session_id;
    expect(await status(asPage(world, second, 'DELETE', `/desk/sessions/${old}`))).toBe(204);
    expect(await status(asPage(world, first, 'GET', '/desk/session'))).toBe(401);
    expect(await status(asPage(world, second, 'DELETE', `/desk/sessions/${old}`))).toBe(404);
  });

  test('[D45] name their browser in our own words, also after a restart', async () => {
    const { world } = await openDesk();
    await login(world, OLD);
    await login(world, OLD, '<script>Windows Chrome/1');
    const cookie = await cookieOf(login(world, OLD, FIREFOX));
    await world.restart();
    const { sessions } = await body<Sessions>(asPage(world, cookie, 'GET', '/desk/sessions'));
    const devices = sessions.map((s) => s.device);
    expect(devices).toHaveLength(3);
    expect(devices).toEqual(expect.arrayContaining(['Firefox on Linux', 'Chrome on Windows', null]));
    expect(sessions.find((s) => s.current)?.device).toBe('Firefox on Linux');
  });

  test('[D45] ending this one takes the cookie away', async () => {
    const { world } = await openDesk();
    const cookie = await cookieOf(login(world, OLD));
    const { sessions } = await body<Sessions>(asPage(world, cookie, 'GET', '/desk/sessions'));
    const reply = await asPage(world, cookie, 'DELETE', `/desk/sessions/${sessions[0]?.session_id}`);
    expect(reply.headers.getSetCookie()[0]).toMatch(/^lanternroom=;/);
    expect(await status(asPage(world, cookie, 'GET', '/desk/session'))).toBe(401);
  });

  test('[D45] of somebody else cannot be seen or ended', async () => {
    const { world } = await openDesk();
    const cookie = await cookieOf(login(world, OLD));
    const { sessions } = await body<Sessions>(asPage(world, cookie, 'GET', '/desk/sessions'));
    const other = await world.addPerson('o@example.com', 'owner');
    const theirs = await body<Sessions>(world.desk('GET', '/desk/sessions', undefined, other.token));
    expect(theirs.sessions).toEqual([]);
    const path = `/desk/sessions/${sessions[0]?.session_id}`;
    expect(await status(world.desk('DELETE', path, undefined, other.token))).toBe(404);
    expect(await status(asPage(world, cookie, 'GET', '/desk/session'))).toBe(200);
  });
});
