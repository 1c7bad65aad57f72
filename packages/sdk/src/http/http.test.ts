import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { answered, DRAFT, ID, received, startRoom, startWorld, TEST_KEY } from '../testing/room.ts';

describe('sending', () => {
  it('[W1] every request carries the key as a bearer token, and JSON', async () => {
    const world = await startWorld(() => received());
    await world.wake.deliver(DRAFT);
    expect(world.seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${TEST_KEY}`,
      'content-type': 'application/json',
    });
  });

  it('[W23] after 401 it stops: no further request leaves, and the sentence says what to do', async () => {
    const world = await startWorld(() => ({ status: 401 }));
    await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({
      fault: 'unauthorized',
      wire: { status: 401 },
    });
    await expect(world.wake.deliver(DRAFT)).rejects.toThrow(/stop, ask a person for a new key/);
    await expect(world.wake.sweep().next()).rejects.toMatchObject({ fault: 'unauthorized' });
    expect(world.seen).toHaveLength(1);
    expect(world.alerts).toEqual(['unauthorized']);
    expect(world.log.lines.at(1)).toContain('"event":"alert"');
  });

  it.each([
    ['ahead', 3 * 3_600_000],
    ['behind', -3 * 3_600_000],
  ])(
    '[W23] a date in Retry-After counts from the date of the reply, with a clock hours %s too',
    async (_, offMs) => {
      const servedAtMs = Date.parse('2026-03-08T12:00:00Z') - offMs;
      const headers = {
        date: new Date(servedAtMs).toUTCString(),
        'retry-after': new Date(servedAtMs + 7_000).toUTCString(),
      };
      const world = await startWorld((_seen, count) => (count === 1 ? { status: 429, headers } : received()));
      await world.wake.deliver(DRAFT);
      expect(world.clock.naps).toEqual([7_000]);
    },
  );

  it('[W23] what is not JSON is wrong usage, before anything is logged or sent', async () => {
    const world = await startWorld(() => received());
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    const unwritable = [{ ratio: Number.NaN }, { limits: [0, Number.POSITIVE_INFINITY] }];
    for (const details of [circle, { big: 2n ** 64n }, { deep }, ...unwritable]) {
      await expect(world.wake.deliver({ ...DRAFT, details })).rejects.toMatchObject({ fault: 'wrong_usage' });
    }
    expect([world.seen, world.log.lines]).toEqual([[], []]);
    await world.wake.deliver({ ...DRAFT, details: { nothing: null, words: 'null' } });
    expect(world.seen).toHaveLength(1);
  });

  it('[W23] a delivery that may not take as long as the server asks for is told at once', async () => {
    const body = { error: { code: 'rate_limited', message: 'Five an hour.' } };
    const world = await startWorld(() => ({ status: 429, body, headers: { 'retry-after': '819' } }));
    const delivering = world.wake.deliver(DRAFT, { withinMs: 45_000 });
    await expect(delivering).rejects.toMatchObject({
      fault: 'rate_limited',
      message: expect.stringMatching(/in 819 s.*Five an hour/),
    });
    expect([world.clock.naps, world.seen.length]).toEqual([[], 1]);
  });

  it('[W23] on 429 it waits Retry-After and tries once more', async () => {
    const limited = { status: 429, headers: { 'retry-after': '7' } };
    const world = await startWorld((_, count) => (count === 1 ? limited : received()));
    await expect(world.wake.deliver(DRAFT)).resolves.toMatchObject({ deliveryId: ID });
    expect(world.clock.naps).toEqual([7_000]);
    expect(world.alerts).toEqual([]);
  });

  it('[W23] a second 429 raises one alert, also when the agent goes on calling', async () => {
    const body = { error: { code: 'rate_limited', message: 'Five an hour.' } };
    const world = await startWorld(() => ({ status: 429, body, headers: { 'retry-after': '7' } }));
    for (const _ of [1, 2, 3]) {
      await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({
        fault: 'rate_limited',
        message: expect.stringContaining('It says: Five an hour.'),
      });
    }
    expect(world.seen).toHaveLength(6);
    expect(world.alerts).toEqual(['rate_limited']);
  });

  it('[W23] a new spell of limits after a good answer is a new alert', async () => {
    const world = await startWorld((_, count) => (count === 3 ? received() : { status: 429 }));
    await expect(world.wake.deliver(DRAFT)).rejects.toThrow();
    await world.wake.deliver(DRAFT);
    await expect(world.wake.deliver(DRAFT)).rejects.toThrow();
    expect(world.alerts).toEqual(['rate_limited', 'rate_limited']);
  });

  it('[W12] a lost reply and a 503 are retried with the same idempotency key and body', async () => {
    const world = await startWorld((_, count) => {
      if (count === 1) return 'hang_up';
      return count === 2 ? { status: 503 } : received();
    });
    await world.wake.deliver(DRAFT);
    expect(world.seen).toHaveLength(3);
    expect(new Set(world.seen.map((seen) => seen.headers['idempotency-key'])).size).toBe(1);
    expect(new Set(world.seen.map((seen) => seen.body)).size).toBe(1);
    expect(world.clock.naps).toHaveLength(2);
  });

  it('[W12] two calls have two keys, unless the caller brings one', async () => {
    const world = await startWorld(() => received());
    await world.wake.deliver(DRAFT);
    await world.wake.deliver(DRAFT);
    await world.wake.deliver(DRAFT, { idempotencyKey: 'run-7' });
    const keys = world.seen.map((seen) => seen.headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('run-7');
  });

  it('[W23] a server that is not there is told in one sentence, after the retries', async () => {
    const world = await startWorld(() => 'hang_up');
    await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({
      fault: 'unreachable',
      message: expect.stringMatching(/^Nothing answers at http:\/\/127.+then try again\.$/),
    });
    expect(world.seen).toHaveLength(4);
  });

  it('[W23] the key does not follow a redirect', async () => {
    const trap = await startRoom(() => received());
    const world = await startWorld(() => ({
      status: 307,
      headers: { location: `${trap.url}/wake/v1/deliver` },
    }));
    await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({ fault: 'bad_reply' });
    expect(trap.seen).toEqual([]);
  });

  it.each([
    [400, 'refused'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [413, 'refused'],
    [422, 'refused'],
  ])('[W8] %i is fault %s with the words of the server, and is not retried', async (status, fault) => {
    const error = { code: 'too_long', message: 'Shorten the headline.', field: 'headline', docs: '/docs' };
    const world = await startWorld(() => ({ status, body: { error } }));
    await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({
      fault,
      message: expect.stringContaining('Shorten the headline.'),
      wire: { status, code: 'too_long', field: 'headline' },
    });
    expect(world.seen).toHaveLength(1);
  });

  it.each(['<html>', '[]', '{"delivery_id":7}', 'null'])(
    '[W23] a reply of %s is not taken for a delivery',
    async (body) => {
      const world = await startWorld(() => ({ status: 200, body }));
      await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({ fault: 'bad_reply' });
    },
  );

  it('[W23] waiting for a limit ends as soon as the caller aborts', async () => {
    const controller = new AbortController();
    const world = await startWorld(
      () => {
        setImmediate(() => controller.abort());
        return { status: 429, headers: { 'retry-after': '3600' } };
      },
      { clock: systemClock },
    );
    const delivering = world.wake.deliver(DRAFT, { signal: controller.signal });
    await expect(delivering).rejects.toMatchObject({ fault: 'aborted' });
    expect(world.seen).toHaveLength(1);
  });

  it('[W23] a call that is aborted before it starts sends nothing', async () => {
    const world = await startWorld(() => answered('approved'));
    await world.wake.adopt(ID);
    const checking = world.wake.check(ID, { signal: AbortSignal.abort() });
    await expect(checking).rejects.toMatchObject({ fault: 'aborted' });
    expect(world.seen).toEqual([]);
  });
});
