import { describe, expect, test } from 'vitest';
import { accept } from '../../core/deliveries/accept.ts';
import { orThrow } from '../../core/faults.ts';
import { HOUR, SECOND, toIso } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import { aDelivery, aDraft } from '../../testing/stores/things.ts';
import type { World } from '../../testing/world.ts';

type Row = { section: string; snoozed_until: string | null; read_at: string | null; state: string };

const row = (world: World, id: string) => body<Row>(world.desk('GET', `/desk/deliveries/${id}`));
const section = async (world: World, id: string) => (await row(world, id)).section;
const read = (world: World, id: string) => body<Row>(world.desk('POST', `/desk/deliveries/${id}/read`));
const snooze = (world: World, id: string, until: string | null) =>
  world.desk('POST', `/desk/deliveries/${id}/snooze`, { until });

async function openKnown() {
  const opened = await openDesk({ env: AT_ONCE });
  await opened.world.decide(await opened.world.deliver(), { status: 'approved' });
  return opened;
}

describe('reading', () => {
  test.each([
    ['update', 'to_read', 'earlier'],
    ['alert', 'alerts', 'earlier'],
    ['question', 'needs_you', 'needs_you'],
    ['output', 'needs_you', 'needs_you'],
  ])('[D15] %s moves from %s to %s when it is read', async (type, before, after) => {
    const { world, clock } = await openKnown();
    const id = await world.deliver({ type });
    expect(await section(world, id)).toBe(before);
    expect(await read(world, id)).toMatchObject({ section: after, read_at: toIso(clock.now()) });
    expect(await row(world, id)).toMatchObject({ section: after, state: 'pending' });
  });

  test('[D15] again changes nothing and leaves no second line', async () => {
    const { world, clock } = await openKnown();
    const id = await world.deliver();
    const first = await read(world, id);
    clock.turn(SECOND);
    expect(await read(world, id)).toEqual(first);
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(999, 999));
    expect(lines.filter((line) => line.action === 'delivery.read')).toHaveLength(1);
  });

  test('[D15] an update that was read can still be decided, and undone it is read still', async () => {
    const { world } = await openDesk();
    const id = await world.deliver({ type: 'update' });
    await read(world, id);
    expect((await world.decide(id, { status: 'rejected' })).status).toBe(200);
    expect(await status(world.desk('DELETE', `/desk/deliveries/${id}/decision`))).toBe(200);
    expect(await section(world, id)).toBe('earlier');
  });

  test('[D15] what was snoozed and is read does not come back by itself', async () => {
    const { world, clock } = await openKnown();
    const id = await world.deliver({ type: 'update' });
    await snooze(world, id, toIso(clock.now() + HOUR));
    expect(await read(world, id)).toMatchObject({ section: 'earlier', snoozed_until: null });
    await world.tick(2 * HOUR);
    expect(await row(world, id)).toMatchObject({ section: 'earlier', snoozed_until: null });
  });
});

describe('snoozing', () => {
  test('[D15] hides until then, and what returns takes its old place', async () => {
    const { world, clock } = await openKnown();
    const ids = [await world.deliver(), await world.deliver(), await world.deliver()];
    const order = async () =>
      (
        await body<{ deliveries: { delivery_id: string }[] }>(
          world.desk('GET', '/desk/deliveries?section=needs_you'),
        )
      ).deliveries.map((d) => d.delivery_id);
    const until = toIso(clock.now() + HOUR);
    expect(await body(snooze(world, ids[1] ?? '', until))).toMatchObject({
      section: 'snoozed',
      snoozed_until: until,
    });
    expect(await order()).toEqual([ids[0], ids[2]]);
    await world.tick(HOUR - SECOND);
    expect(await order()).toEqual([ids[0], ids[2]]);
    await world.tick(SECOND);
    expect(await order()).toEqual(ids);
    expect(await row(world, ids[1] ?? '')).toMatchObject({ snoozed_until: null });
  });

  test('[D15] null brings it back at once', async () => {
    const { world, clock } = await openKnown();
    const id = await world.deliver({ type: 'alert' });
    await snooze(world, id, toIso(clock.now() + HOUR));
    expect(await body(snooze(world, id, null))).toMatchObject({ section: 'alerts', snoozed_until: null });
  });

  test('[D15][D16] what a new agent sent returns to the new agents', async () => {
    const { world, clock } = await openDesk();
    const [id, other] = [await world.deliver(), await world.deliver()];
    await snooze(world, id, toIso(clock.now() + HOUR));
    await snooze(world, other, toIso(clock.now() + HOUR));
    expect(await body(snooze(world, id, null))).toMatchObject({ section: 'new_agents' });
    await world.tick(HOUR);
    expect(await section(world, other)).toBe('new_agents');
  });

  test.each([
    ['an update', { type: 'update' }],
    ['an alert', { type: 'alert' }],
  ])('[D15] %s that was read and snoozed returns as read', async (_, over) => {
    const { world, clock } = await openKnown();
    const id = await world.deliver(over);
    await read(world, id);
    await snooze(world, id, toIso(clock.now() + HOUR));
    await world.tick(HOUR);
    expect(await section(world, id)).toBe('earlier');
  });

  test('[D15] is refused when nothing waits any more, or the time is invalid or past', async () => {
    const { world, clock } = await openKnown();
    const decided = await world.deliver();
    await world.decide(decided, { status: 'approved' });
    const until = toIso(clock.now() + HOUR);
    expect(await refused(snooze(world, decided, until))).toMatchObject({ status: 409, code: 'not_pending' });
    const id = await world.deliver();
    for (const wrong of [toIso(clock.now()), 'tomorrow', '', 7, undefined, '2026-02-30T00:00:00Z']) {
      const reply = world.desk('POST', `/desk/deliveries/${id}/snooze`, { until: wrong });
      expect(await refused(reply)).toEqual({ status: 422, code: 'invalid_field', field: 'until' });
    }
  });

  test('[D15] a snooze that is due is over after a restart', async () => {
    const { world, clock } = await openKnown();
    const id = await world.deliver();
    await snooze(world, id, toIso(clock.now() + HOUR));
    clock.turn(HOUR);
    await world.restart();
    await world.tick(0);
    expect(await section(world, id)).toBe('needs_you');
  });
});

describe('a new agent', () => {
  test.each(['a decision', 'a reading'])(
    '[D16] is known after %s, and its other deliveries take their places',
    async (how) => {
      const { world } = await openDesk({ env: AT_ONCE });
      const ids = await Promise.all(
        ['question', 'update', 'alert', 'output'].map((type) => world.deliver({ type })),
      );
      for (const id of ids) expect(await section(world, id)).toBe('new_agents');
      if (how === 'a reading') await read(world, ids[0] ?? '');
      else await world.decide(ids[0] ?? '', { status: 'approved' });
      const places = await Promise.all(ids.map((id) => section(world, id)));
      const first = how === 'a reading' ? 'needs_you' : 'earlier';
      expect(places).toEqual([first, 'to_read', 'alerts', 'needs_you']);
      expect(await section(world, await world.deliver())).toBe('needs_you');
      const agent = await body<{ accepted_at: string | null }>(world.desk('GET', '/desk/agents/agent-01'));
      expect(agent.accepted_at).not.toBeNull();
    },
  );

  test('[D16] is known with everything it sent, however much that is', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    const [space, agent] = [world.space.id, world.agent.agent.id];
    const more = { space, agent, section: 'new_agents', type: 'question' } as const;
    await world.room.store.write(space, [], async (tx) => {
      for (let i = 0; i < 1500; i++)
        await tx.deliveries.insert(aDelivery({ ...more, seq: 10_000 + i, sectionAt: i }), new Uint8Array());
    });
    await read(world, id);
    expect(await body(world.desk('GET', '/desk/deliveries?section=new_agents'))).toMatchObject({
      deliveries: [],
    });
    const known = await world.room.store.read(space, (tx) =>
      tx.deliveries.list({ section: 'needs_you', agent, limit: 9999 }),
    );
    expect(known).toHaveLength(1501);
  });

  test('[D16] is known also when what was read had been snoozed before', async () => {
    const { world, clock } = await openDesk();
    const [id, other] = [await world.deliver(), await world.deliver()];
    await snooze(world, id, toIso(clock.now() + HOUR));
    await read(world, id);
    expect(await section(world, other)).toBe('needs_you');
    expect(await section(world, id)).toBe('snoozed');
    await world.tick(HOUR);
    expect(await section(world, id)).toBe('needs_you');
  });

  test.each<[string, (world: World, id: string) => Promise<unknown>]>([
    ['decided', (world, id) => world.decide(id, { status: 'approved' })],
    ['read', read],
  ])('[D16] is known also for a delivery that was on its way when an earlier one was %s', async (_, meet) => {
    const { world } = await openDesk({ env: AT_ONCE });
    const digest = world.room.vault.sha256(world.agent.key);
    const identity = await world.room.store.directory.identityByDigest(digest);
    if (identity === null) throw new Error('the key is unknown');
    await meet(world, await world.deliver());
    const content = { headline: 'on its way' };
    const accepted = orThrow(
      await accept(world.room, {
        identity: { ...identity, accepted: false },
        draft: aDraft(),
        content,
        raw: Buffer.from(JSON.stringify(content)),
        idempotencyKey: null,
      }),
    );
    expect(await section(world, accepted.id)).toBe('needs_you');
  });

  test('[D16] stays new when its delivery was only looked at or snoozed', async () => {
    const { world, clock } = await openDesk();
    const id = await world.deliver();
    await row(world, id);
    await snooze(world, id, toIso(clock.now() + HOUR));
    expect(await section(world, await world.deliver())).toBe('new_agents');
  });

  test('[D16] an undone decision leaves the agent known', async () => {
    const { world } = await openDesk();
    const [id, other] = [await world.deliver(), await world.deliver()];
    await world.decide(id, { status: 'approved' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    expect([await section(world, id), await section(world, other)]).toEqual(['needs_you', 'needs_you']);
  });
});
