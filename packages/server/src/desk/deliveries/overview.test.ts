import { describe, expect, test } from 'vitest';
import { estimateMinutes } from '../../core/deliveries/reading/overview.ts';
import { HOUR, toIso } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, status } from '../../testing/desk/desk.ts';
import { aDecision } from '../../testing/stores/things.ts';
import { sampleDelivery } from '../../testing/world.ts';

type Overview = {
  sections: Record<string, number>;
  minutes: number;
  last_decision_at: string | null;
  sat_at: string | null;
  next_sitting_at: string | null;
  deliveries_ever: number;
  held: { delivery_id: string; headline: string; status: string; effect_at: string }[];
};

describe('GET /desk/overview', () => {
  test('[D34] is all zero and null on a fresh install', async () => {
    const { world } = await openDesk();
    expect(await body(world.desk('GET', '/desk/overview'))).toEqual({
      sections: { needs_you: 0, alerts: 0, new_agents: 0, to_read: 0, snoozed: 0 },
      minutes: 0,
      last_decision_at: null,
      sat_at: null,
      next_sitting_at: null,
      deliveries_ever: 0,
      held: [],
    });
  });

  test('[D34] counts what waits, and not what is held, read or decided', async () => {
    const { world } = await openDesk();
    const first = await world.deliver();
    await world.deliver({ type: 'output' });
    await world.deliver({ type: 'alert' });
    const update = await world.deliver({ type: 'update' });
    const before = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(before.sections).toMatchObject({ new_agents: 4, needs_you: 0 });
    expect(before.minutes).toBe(6);

    await world.decide(first, { status: 'approved' }); // held; and the agent is known now
    const held = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(held.sections).toEqual({ needs_you: 1, alerts: 1, new_agents: 0, to_read: 1, snoozed: 0 });
    expect(held.minutes).toBe(3);
    expect(held.last_decision_at).toBe('2026-11-15T09:00:00.000000Z');

    await world.desk('POST', `/desk/deliveries/${update}/read`);
    const read = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(read.sections.to_read).toBe(0);
    expect(read.deliveries_ever).toBe(4);
  });

  test('[D34] names what this person can still undo, and nothing of anybody else', async () => {
    const { world } = await openDesk();
    const [first, second, theirs] = [await world.deliver(), await world.deliver(), await world.deliver()];
    await world.decide(first, { status: 'approved' });
    await world.decide(second, { status: 'rejected', feedback: 'no' });
    const { token } = await world.addPerson('bob@example.com', 'decider');
    await world.decide(theirs, { status: 'approved' }, token);
    const held = async () => (await body<Overview>(world.desk('GET', '/desk/overview'))).held;
    expect((await held()).map((one) => [one.delivery_id, one.status])).toEqual([
      [first, 'approved'],
      [second, 'rejected'],
    ]);
    await world.desk('DELETE', `/desk/deliveries/${first}/decision`);
    expect((await held()).map((one) => one.delivery_id)).toEqual([second]);
    await world.tick(10_000_000);
    expect(await held()).toEqual([]);
  });

  test('[D34] an undone decision is not the last one', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    const seen = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(seen.last_decision_at).toBeNull();
    expect(seen.sections.needs_you).toBe(1);
  });

  test('[D34] names the last decision that stands, however many were undone since', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    await world.decide(await world.deliver(), { status: 'approved' });
    const decidedAt = toIso(clock.now());
    await world.room.store.write(world.space.id, [], async (tx) => {
      for (let i = 0; i < 60; i++) {
        const undone = aDecision({ space: tx.space, seq: 1000 + i, delivery: `d-${i}`, state: 'undone' });
        await tx.decisions.insert(undone, new Uint8Array());
      }
    });
    expect(await body(world.desk('GET', '/desk/overview'))).toMatchObject({ last_decision_at: decidedAt });
  });

  test('[D34] counts only the own space', async () => {
    const { world } = await openDesk();
    await world.deliver();
    const other = await world.addPerson('o@example.com', 'owner', await world.addSpace('other'));
    const seen = await body<Overview>(world.desk('GET', '/desk/overview', undefined, other.token));
    expect(seen.deliveries_ever).toBe(0);
    expect(seen.sections.new_agents).toBe(0);
  });

  test('[D34] knows the next sitting of this person, and of nobody else', async () => {
    const { world } = await openDesk();
    await world.desk('PUT', '/desk/preferences', {
      time_zone: 'America/New_York',
      sittings: [{ days: [1, 2, 3, 4, 5, 6, 7], at: '09:00' }],
    });
    const mine = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(mine.next_sitting_at).toBe('2026-11-15T14:00:00.000000Z');
    const { token } = await world.addPerson('r@example.com', 'reader');
    const theirs = await body<Overview>(world.desk('GET', '/desk/overview', undefined, token));
    expect(theirs.next_sitting_at).toBeNull();
  });
});

describe('POST /desk/sat', () => {
  test('[D35] moves the tide line of this person only, readers too', async () => {
    const { world, clock } = await openDesk();
    const reader = await world.addPerson('r@example.com', 'reader');
    expect(await status(world.desk('POST', '/desk/sat'))).toBe(204);
    clock.turn(HOUR);
    expect(await status(world.desk('POST', '/desk/sat', undefined, reader.token))).toBe(204);
    const mine = await body<Overview>(world.desk('GET', '/desk/overview'));
    const theirs = await body<Overview>(world.desk('GET', '/desk/overview', undefined, reader.token));
    expect([mine.sat_at, theirs.sat_at]).toEqual([
      '2026-11-15T09:00:00.000000Z',
      '2026-11-15T10:00:00.000000Z',
    ]);
  });

  test('[D35] survives a restart and leaves one line in the ledger', async () => {
    const { world } = await openDesk();
    await world.desk('POST', '/desk/sat');
    await world.restart();
    const seen = await body<Overview>(world.desk('GET', '/desk/overview'));
    expect(seen.sat_at).toBe('2026-11-15T09:00:00.000000Z');
    const { entries } = await body<{ entries: { action: string }[] }>(world.desk('GET', '/desk/audit'));
    expect(entries.filter((e) => e.action === 'person.sat')).toHaveLength(1);
  });
});

test('[D34] the estimate is a minute a question or alert, three an output, half an update, rounded up', () => {
  expect(estimateMinutes(new Map())).toBe(0);
  expect(
    estimateMinutes(
      new Map([['question', 2]]),
      new Map([
        ['output', 2],
        ['update', 1],
      ]),
    ),
  ).toBe(9);
});

test('[D38] every row says whether it is a sample', async () => {
  const { world } = await openDesk();
  await world.post('/wake/v1/deliver', sampleDelivery(world.agent.agent.id));
  const { deliveries } = await body<{ deliveries: { sample: boolean }[] }>(
    world.desk('GET', '/desk/deliveries'),
  );
  expect(deliveries.map((d) => d.sample)).toEqual([false]);
});
