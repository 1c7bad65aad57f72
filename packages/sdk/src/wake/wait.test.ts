import { describe, expect, expectTypeOf, it } from 'vitest';
import { answered, DRAFT, ID, received, type Said, startWorld } from '../testing/room.ts';
import type { Answer, Assumed, Unanswered } from './answer.ts';

const isDeliver = (seen: { method: string }) => seen.method === 'POST';
const events = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).event);

describe('waiting for an answer', () => {
  it('[W15] the server is asked to hold the request, and nobody sleeps in between', async () => {
    const world = await startWorld((_, count) => {
      world.clock.advance(60_000);
      return count < 3 ? answered('pending') : answered('approved');
    });
    await world.wake.adopt(ID);
    await expect(world.wake.waitFor(ID)).resolves.toMatchObject({ status: 'approved', mayProceed: true });
    const look = `/wake/v1/response/${ID}`;
    // The first one to a server that has not answered before is not held, so that a wrong address is told at once.
    expect(world.seen.map((seen) => seen.url)).toEqual([look, `${look}?wait=60`, `${look}?wait=60`]);
    expect(world.clock.naps).toEqual([]);
  });

  it('[W15] a plain server that does not hold is polled once a minute', async () => {
    const world = await startWorld((_, count) => (count < 4 ? answered('pending') : answered('rejected')));
    await world.wake.adopt(ID);
    await expect(world.wake.waitFor(ID)).resolves.toMatchObject({ status: 'rejected', mayProceed: false });
    expect(world.clock.naps).toEqual([60_000, 60_000]);
  });

  it('[W23] without an answer in time it says so, and nobody may proceed', async () => {
    const world = await startWorld(() => answered('pending'));
    await world.wake.adopt(ID);
    const answer = await world.wake.waitFor(ID, { timeoutMs: 90_000 });
    expect(answer).toEqual({ status: 'timed_out', mayProceed: false, deliveryId: ID, assumption: null });
    expect(world.clock.naps).toEqual([60_000, 30_000]);
    expect(events(world.log.lines)).toEqual(['adopted', 'timed_out']);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('[W23] nobody waits for %d ms', async (ms) => {
    const world = await startWorld(() => answered('pending'));
    await world.wake.adopt(ID);
    const refused = { fault: 'wrong_usage', message: expect.stringContaining(`Ms is ${ms}`) };
    await expect(world.wake.waitFor(ID, { timeoutMs: ms })).rejects.toMatchObject(refused);
    await expect(world.wake.deliver(DRAFT, { withinMs: ms })).rejects.toMatchObject(refused);
    expect(world.seen).toEqual([]);
  });

  it('[W23] with an assumption one may proceed, and it is in the log by then', async () => {
    const world = await startWorld(() => answered('pending'));
    await world.wake.adopt(ID);
    const onTimeout = { assumption: 'Nobody objects.' };
    const answer = await world.wake.waitFor(ID, { timeoutMs: 1_000, onTimeout });
    expect(answer).toEqual({
      status: 'timed_out',
      mayProceed: true,
      deliveryId: ID,
      assumption: 'Nobody objects.',
    });
    expect(JSON.parse(world.log.lines.at(-1) ?? '')).toMatchObject({
      event: 'assumption',
      delivery_id: ID,
      assumption: 'Nobody objects.',
    });
  });

  it('[W23] an assumption that cannot be written down is none', async () => {
    const world = await startWorld(() => answered('pending'), {
      log: {
        append: async (line) => {
          if (line.includes('assumption')) throw new Error('disk full');
        },
        newLines: async () => [],
      },
    });
    await world.wake.adopt(ID);
    const waiting = world.wake.waitFor(ID, { timeoutMs: 0, onTimeout: { assumption: 'Fine.' } });
    await expect(waiting).rejects.toThrow('disk full');
  });

  it('[W23] an empty assumption is refused at once', async () => {
    const world = await startWorld(() => answered('pending'));
    await world.wake.adopt(ID);
    const waiting = world.wake.waitFor(ID, { onTimeout: { assumption: ' ' } });
    await expect(waiting).rejects.toMatchObject({ fault: 'wrong_usage' });
  });

  it('[W23] it ends with the timeout of the delivery itself, counted from the delivery', async () => {
    const world = await startWorld((seen) => (isDeliver(seen) ? received() : answered('pending')));
    await world.wake.deliver({ ...DRAFT, timeoutSeconds: 600 });
    world.clock.advance(500_000);
    await world.wake.waitFor(ID);
    expect(world.clock.naps).toEqual([60_000, 40_000]);
  });

  it('[W23] it never waits for ever: an hour when nothing else was said', async () => {
    const world = await startWorld(() => answered('pending'));
    await world.wake.adopt(ID);
    await world.wake.waitFor(ID, { pollMs: 600_000 });
    expect(world.clock.naps).toEqual(Array(6).fill(600_000));
  });

  it('[W16] an answer that came in the last moment counts, with a timeout of nothing', async () => {
    const world = await startWorld(() => answered('redirected', { feedback: 'Shorter.' }));
    await world.wake.adopt(ID);
    const answer = await world.wake.waitFor(ID, { timeoutMs: 0 });
    expect(answer).toMatchObject({
      status: 'redirected',
      instructions: { feedback: 'Shorter.', editedContent: null },
    });
    expect(world.seen[0]?.url).toBe(`/wake/v1/response/${ID}`);
  });

  it('[W23] a wait survives a server that is away for a while', async () => {
    const outage: Said[] = Array(8).fill('hang_up');
    const script: Said[] = [answered('pending'), ...outage, answered('approved')];
    const world = await startWorld((_, count) => script[count - 1] ?? 'hang_up');
    await world.wake.adopt(ID);
    await expect(world.wake.waitFor(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] out of reach at the end is not "no answer": a person may have said no', async () => {
    const world = await startWorld((_, count) => (count === 1 ? answered('pending') : 'hang_up'));
    await world.wake.adopt(ID);
    const waiting = world.wake.waitFor(ID, { timeoutMs: 120_000, onTimeout: { assumption: 'Fine.' } });
    await expect(waiting).rejects.toMatchObject({ fault: 'unreachable' });
    expect(events(world.log.lines)).not.toContain('assumption');
  });

  it('[W23] a look that broke off while the laptop slept past the end is taken once more', async () => {
    const script: Said[] = [received(), 'hang_up', answered('approved')];
    const world = await startWorld((_, count) => {
      if (count === 2) world.clock.advance(3_600_000);
      return script[count - 1] ?? 'hang_up';
    });
    await world.wake.deliver(DRAFT);
    const waiting = world.wake.waitFor(ID, { timeoutMs: 120_000 });
    await expect(waiting).resolves.toMatchObject({ status: 'approved' });
    expect(world.seen).toHaveLength(3);
  });

  it('[W23] a server that was never there is told at once', async () => {
    const world = await startWorld(() => 'hang_up');
    await world.wake.adopt(ID);
    await expect(world.wake.waitFor(ID)).rejects.toMatchObject({ fault: 'unreachable' });
    expect(world.seen).toHaveLength(4);
  });

  it('[W23] a restart during the very first look is waited out, when the server was there before', async () => {
    const outage: Said[] = Array(8).fill('hang_up');
    const script: Said[] = [received(), ...outage, answered('approved')];
    const world = await startWorld((_, count) => script[count - 1] ?? 'hang_up');
    await world.wake.deliver(DRAFT);
    await expect(world.wake.waitFor(ID)).resolves.toMatchObject({ status: 'approved' });
    // Beside the short ones between attempts: the next looks are near, not a minute away.
    expect(world.clock.naps.filter((ms) => ms >= 5_000)).toEqual([]);
  });

  it.each([
    [429, 'rate_limited'],
    [503, 'server_failed'],
  ])(
    '[W23] a server that answers %i and asks for an hour does not make the wait longer',
    async (status, fault) => {
      const script: Said[] = [received(), { status, headers: { 'retry-after': '3600' } }];
      const world = await startWorld((_, count) => script[Math.min(count, 2) - 1] ?? 'hang_up');
      await world.wake.deliver(DRAFT);
      const waiting = world.wake.waitFor(ID, { timeoutMs: 19_999.5 });
      await expect(waiting).rejects.toMatchObject({ fault, wire: { status } });
      expect(world.clock.naps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(20_000);
      expect(world.alerts).toEqual([]);
    },
  );

  it('[W23] the types keep a rejected answer away from the work', () => {
    type Proceeding = Extract<Answer | Assumed | Unanswered, { mayProceed: true }>;
    expectTypeOf<Proceeding['status']>().toEqualTypeOf<'approved' | 'timed_out'>();
    expectTypeOf<Extract<Proceeding, { status: 'timed_out' }>['assumption']>().toEqualTypeOf<string>();
  });
});
