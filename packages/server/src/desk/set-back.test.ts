import { expect, test } from 'vitest';
import { DAY, HOUR, SECOND } from '../core/time.ts';
import { openInbox, page } from '../testing/akep/akep.ts';
import { body, openDesk } from '../testing/desk/desk.ts';
import { signal } from '../testing/network/receivers.ts';
import { attemptsOf, checked, openHook, swept } from '../testing/wake.ts';
import { ManualClock, type World } from '../testing/world.ts';

const DECIDED = 'status=approved,rejected,redirected';
const verified = (world: World) => body(world.desk('GET', '/desk/audit/verify'));

test.each([
  ['forwards', DAY],
  ['backwards', -DAY],
  ['backwards by a moment', -3 * SECOND],
])(
  '[D28][W19][K12] the clock jumps %s: nothing appears behind a since or a cursor, nothing is lost',
  async (_, jump) => {
    const clock = new ManualClock();
    const env = { LANTERNROOM_UNDO_SECONDS: '0' };
    const { world, sender } = await openInbox({ env, clock });
    const [before, across] = [await world.deliver(), await world.deliver()];
    await world.decide(before, { status: 'approved' });
    const first = await swept(world, DECIDED);
    expect(first.deliveries.map((d) => d.delivery_id)).toEqual([before]);
    const seen = await page(world);

    await world.tick(jump);
    await world.decide(across, { status: 'rejected', feedback: 'after the jump' });
    const after = await world.deliver();
    await world.decide(after, { status: 'approved' });
    await sender.sent();
    const second = await swept(world, `${DECIDED}&since=${first.next_since}`);
    expect(second.deliveries.map((d) => d.delivery_id)).toEqual([across, after]);
    const more = await page(world, `?cursor=${seen.next_cursor}`);
    expect(more.events).toHaveLength(3); // two decisions, and what was sent

    // And when it is put right again.
    await world.tick(-jump);
    const last = await world.deliver();
    await world.decide(last, { status: 'approved' });
    const third = await swept(world, `${DECIDED}&since=${second.next_since}`);
    expect(third.deliveries.map((d) => d.delivery_id)).toEqual([last]);
    expect(await verified(world)).toMatchObject({ ok: true });
  },
);

test.each(['while it runs', 'while it is stopped'])(
  '[D13][D28][R5] the clock is set back by hours %s: a held decision takes effect, its callback goes out',
  async (when) => {
    const hook = await openHook(() => ({ status: 204 }));
    const { world, clock } = await openDesk();
    const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
    const over = { agent_id: 'hooked', callback_webhook: `${hook.origin}/a` };
    const id = await world.deliver(over, key);
    await world.tick(0);
    await world.decide(id, { status: 'approved', feedback: 'before the jump' });
    if (when === 'while it runs') await world.tick(-5 * HOUR);
    else await world.restart(() => clock.turn(-5 * HOUR));
    await world.tick(SECOND);
    expect(await checked(world, id, key)).toMatchObject({ status: 'approved', feedback: 'before the jump' });
    expect((await attemptsOf(world, id, 1)).callbacks).toMatchObject([{ state: 'done' }]);
    expect(hook.calls).toHaveLength(1);
    expect(await verified(world)).toMatchObject({ ok: true });
  },
);

test('[D28][W22] what a dead worker had leased does not wait for the old time to come again', async () => {
  const [reached, released] = [signal(), signal()];
  const hook = await openHook(async (_, count) => {
    if (count === 1) {
      reached.fire();
      await released.seen;
    }
    return { status: 204 };
  });
  const { world } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
  await world.tick(0);
  await world.decide(id, { status: 'approved' });
  await reached.seen;
  // Another worker took it over and died, by a clock that was five hours ahead.
  const later = (world.clock?.now() ?? 0) + 5 * HOUR;
  await world.sql('update jobs set leased_until = ?, due_at = ?, fence = fence + 1', later, later);
  released.fire();
  await world.tick(-5 * HOUR);
  expect((await attemptsOf(world, id, 1)).callbacks).toMatchObject([{ state: 'done', attempts: 1 }]);
  expect(hook.calls).toHaveLength(2);
});

test('[D13][D28] the clock is set back while the store takes nothing: what that left behind is mended once it does', async () => {
  const { world } = await openDesk();
  const id = await world.deliver();
  await world.tick(0);
  await world.decide(id, { status: 'approved' });
  await world.sql('alter table links rename to links_elsewhere');
  await expect(world.tick(-5 * HOUR)).rejects.toThrow();
  await world.sql('alter table links_elsewhere rename to links');
  await world.tick(SECOND);
  expect(await checked(world, id)).toMatchObject({ status: 'approved' });
});

test('[W5][D36][D28] a clock that was a year ahead for a moment keeps nobody waiting for that year', async () => {
  const hook = await openHook((_, count) => ({ status: count === 1 ? 503 : 204 }));
  const env = { LANTERNROOM_UNDO_SECONDS: '0', LANTERNROOM_RATE_TEST: '20/5' };
  const { world, clock } = await openDesk({ env });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
  const digest = { kind: 'webhook', target: 'https://example.com/digest' };
  const sittings = [{ days: [1, 2, 3, 4, 5, 6, 7], at: '09:30' }];
  await body(world.desk('PUT', '/desk/preferences', { sittings, digest }));
  await world.tick(365 * DAY);
  const over = { agent_id: 'hooked', callback_webhook: `${hook.origin}/a` };
  const id = await world.deliver(over, key);
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  await world.tick(-365 * DAY);

  expect((await attemptsOf(world, id, 2)).callbacks).toMatchObject([{ state: 'done', attempts: 2 }]);
  const [planned] = await world.sql('select digest_at from preferences');
  expect(Number(planned?.digest_at)).toBeLessThanOrEqual(clock.now() + DAY);
  for (let n = 0; n < 5; n++) await world.deliver(over, key);
  clock.turn(HOUR);
  await world.deliver(over, key);
  expect(await verified(world)).toMatchObject({ ok: true });
});

test('[D28][R5] a clock that is corrected by moments costs no space a write, until they add up', async () => {
  const hook = await openHook(() => ({ status: 204 }));
  const { world } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
  await world.tick(0);
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
  await world.decide(id, { status: 'approved' });
  await attemptsOf(world, id, 1);
  // As a clock that was five hours ahead would have left it.
  const later = (world.clock?.now() ?? 0) + 5 * HOUR;
  await world.sql("update jobs set state = 'due', leased_until = ?", later);
  const lease = async () => Number((await world.sql('select leased_until from jobs'))[0]?.leased_until);
  for (let step = 0; step < 12; step++) {
    await world.tick(-5 * SECOND);
    expect(await lease()).toBe(later);
  }
  await world.tick(-5 * SECOND);
  expect(await lease()).not.toBe(later);
});

test('[D65] when an agent was last seen is written also after the clock was set back, or a first try failed', async () => {
  const { world } = await openDesk();
  const seenAt = async () => {
    const agent = await world.room.store.read(world.space.id, (tx) => tx.agents.get(world.agent.agent.id));
    return agent?.lastSeenAt;
  };
  await world.tick(0);
  await world.deliver();
  await world.tick(60 * SECOND);
  const first = await seenAt();
  await world.tick(-5 * HOUR);
  await world.deliver();
  const second = world.clock?.now();
  await world.sql('alter table agents rename to agents_elsewhere');
  await expect(world.tick(SECOND)).rejects.toThrow();
  await world.sql('alter table agents_elsewhere rename to agents');
  await world.tick(60 * SECOND);
  expect(first).not.toBe(second);
  expect(await seenAt()).toBe(second);
});
