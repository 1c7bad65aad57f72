import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SESSION_KEPT } from '../core/people/login/login.ts';
import { SECOND } from '../core/time.ts';
import { Browser } from '../testing/desk/browser.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../testing/desk/desk.ts';
import { StreamReader } from '../testing/network/stream.ts';
import { untilStreaming } from '../testing/waiting.ts';
import type { World } from '../testing/world.ts';

async function loggedIn(world: World): Promise<Browser> {
  const browser = new Browser(world);
  await browser.login();
  return browser;
}

async function listen(browser: Browser): Promise<StreamReader> {
  const stream = await StreamReader.open(browser.send('GET', '/desk/stream'));
  expect(await stream.next()).toMatchObject({ event: 'hello' });
  return stream;
}

describe('the stream', () => {
  test('[D17] tells what changed, after the commit', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const browser = await loggedIn(world);
    const stream = await listen(browser);
    const id = await world.deliver();
    expect(await stream.next()).toEqual({ event: 'change', data: { about: id } });
    expect(await body(browser.send('GET', `/desk/deliveries/${id}`))).toMatchObject({ state: 'pending' });
    await world.decide(id, { status: 'approved' });
    expect(await stream.next()).toEqual({ event: 'change', data: { about: id } });
    expect(await body(browser.send('GET', `/desk/deliveries/${id}`))).toMatchObject({ state: 'decided' });
  });

  test('[D17] greets with the last thing that happened, so that a list can be known to be as new', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    const greeting = async () => {
      const stream = await StreamReader.open(browser.send('GET', '/desk/stream'));
      const hello = (await stream.next())?.data as { ledger_seq: number } | undefined;
      return { ledger_seq: hello?.ledger_seq ?? 0 };
    };
    const listed = () => body<{ ledger_seq: number }>(browser.send('GET', '/desk/deliveries'));
    const { ledger_seq } = await listed();
    expect(ledger_seq).toBeGreaterThan(0);
    expect(await greeting()).toEqual({ ledger_seq });
    await world.deliver();
    const later = await greeting();
    expect(later.ledger_seq).toBeGreaterThan(ledger_seq);
    expect(await listed()).toMatchObject(later);
    const found = await body(browser.send('GET', '/desk/deliveries?from=2026-01-01T00:00:00Z'));
    expect(found).toMatchObject(later);
  });

  test('[D17] can be heard while nothing happens, as often as its greeting says', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const stream = await StreamReader.open(browser.send('GET', '/desk/stream'));
    const hello = (await stream.next())?.data as { beat_seconds: number } | undefined;
    vi.advanceTimersByTime((hello?.beat_seconds ?? 0) * 1000);
    expect(await stream.next()).toEqual({ event: 'beat', data: {} });
  });

  test('[D17] tells when a held decision takes effect', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const stream = await listen(await loggedIn(world));
    await world.decide(id, { status: 'approved' });
    expect(await stream.next()).toMatchObject({ data: { about: id } });
    await world.tick(10 * SECOND);
    expect(await stream.next()).toMatchObject({ data: { about: id } });
  });

  test('[D17][W26] tells what a revision has taken the place of', async () => {
    const { world } = await openDesk();
    const first = await world.deliver();
    const second = await world.deliver({ revises: first });
    const stream = await listen(await loggedIn(world));
    const third = await world.deliver({ revises: first });
    const told = [await stream.next(), await stream.next(), await stream.next()].map((one) => one?.data);
    expect(told).toContainEqual({ about: second });
    expect(told).toContainEqual({ about: first });
    expect(told).toContainEqual({ about: third });
  });

  test('[D17] tells nothing of what was refused', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const stream = await listen(await loggedIn(world));
    await world.decide(id, { status: 'approved', content_sha256: 'f'.repeat(64) });
    const next = await world.deliver();
    expect(await stream.next()).toMatchObject({ data: { about: next } });
  });

  test('[D17][D27] tells nothing of another space', async () => {
    const { world } = await openDesk();
    const other = await world.addSpace('other');
    const { token } = await world.addPerson('other@example.com', 'owner', other);
    const stream = await listen(await loggedIn(world));
    await body(world.desk('POST', '/desk/agents', { agent_id: 'theirs' }, token));
    const id = await world.deliver();
    expect(await stream.next()).toMatchObject({ data: { about: id } });
  });

  test('[D17] ends when its person logs out, without waiting for the next change', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    const stream = await listen(browser);
    expect(await status(browser.send('DELETE', '/desk/session'))).toBe(204);
    expect(await stream.rest()).toEqual([{ event: 'reconnect', data: {} }]);
    await untilStreaming(world, 0);
  });

  test('[D17] ends when its session is replaced by a login', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    const stream = await listen(browser);
    await browser.login();
    expect(await stream.rest()).toEqual([{ event: 'reconnect', data: {} }]);
  });

  test('[D17] ends when its session has expired', async () => {
    const { world } = await openDesk();
    const stream = await listen(await loggedIn(world));
    await world.tick(SESSION_KEPT);
    expect(await stream.rest()).toEqual([{ event: 'reconnect', data: {} }]);
  });

  test('[D17] ends when its token is revoked', async () => {
    const { world } = await openDesk();
    const made = await body<{ token: string; token_id: string }>(
      (await loggedIn(world)).send('POST', '/desk/tokens', { name: 'x' }),
    );
    const stream = await listen(new Browser(world, { authorization: `Bearer ${made.token}` }));
    await world.desk('DELETE', `/desk/tokens/${made.token_id}`);
    expect(await stream.rest()).toEqual([{ event: 'reconnect', data: {} }]);
  });

  test('[D17] of one session ends, that of another goes on', async () => {
    const { world } = await openDesk();
    const [one, two] = [await loggedIn(world), await loggedIn(world)];
    const [ending, staying] = [await listen(one), await listen(two)];
    await one.send('DELETE', '/desk/session');
    await ending.rest();
    const id = await world.deliver();
    for (;;) {
      const event = await staying.next();
      expect(event?.event).toBe('change');
      if (JSON.stringify(event?.data).includes(id)) break;
    }
  });

  test('[W29][D17] many of one session cost one look at each change', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    const streams = await Promise.all(Array.from({ length: 40 }, () => listen(browser)));
    const { directory } = world.room.store;
    const asked = vi.spyOn(directory, 'sessionByDigest');
    const id = await world.deliver();
    for (const stream of streams) expect(await stream.next()).toMatchObject({ data: { about: id } });
    expect(asked.mock.calls.length).toBeGreaterThan(0);
    expect(asked.mock.calls.length).toBeLessThan(streams.length / 2);
  });

  test('[D6] is not for another site, nor for nobody', async () => {
    const { world } = await openDesk();
    const browser = await loggedIn(world);
    const foreign = browser.send('GET', '/desk/stream', undefined, { origin: 'https://evil.example' });
    expect(await refused(foreign)).toEqual({ status: 403, code: 'cross_site' });
    expect(await status(new Browser(world).send('GET', '/desk/stream'))).toBe(401);
  });
});
