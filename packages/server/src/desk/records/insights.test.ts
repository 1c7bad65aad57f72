import { describe, expect, test } from 'vitest';
import type { Day } from '../../core/deliveries/reading/insights.ts';
import { fromIsoWeek, mondayOf, toIsoWeek, weekOf } from '../../core/people/sittings/iso-week.ts';
import { record } from '../../core/room.ts';
import { DAY, HOUR, SECOND } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { aDecision } from '../../testing/stores/things.ts';
import type { World } from '../../testing/world.ts';
import { atMost, duration, letter } from './letter.ts';

type Point = { label: string; value: number | null; query: string };
type Insights = {
  week: string;
  from: string;
  to: string;
  time_zone: string;
  letter: { text: string; list: string; query: string }[];
  charts: { name: string; unit: string; list: string; points: Point[] }[];
};

function insights(world: World, week = ''): Promise<Insights> {
  return body<Insights>(world.desk('GET', `/desk/insights${week}`));
}

/** A week with something in it: the manual clock starts on Sunday of W46. */
async function busyWeek() {
  const { world, clock } = await openDesk({ env: AT_ONCE });
  await world.deliver();
  clock.turn(DAY); // Monday of W47
  const ids: string[] = [];
  for (const type of ['question', 'question', 'output', 'alert']) ids.push(await world.deliver({ type }));
  clock.turn(HOUR);
  await world.decide(ids[0] ?? '', { status: 'approved' });
  clock.turn(DAY);
  await world.deliver({ type: 'update' });
  await world.decide(ids[1] ?? '', { status: 'redirected' });
  await world.decide(ids[2] ?? '', { status: 'approved' });
  return { world, clock };
}

const DAYS = [1, 2, 3, 4, 5, 6, 7];
const aDay = (n: number): Day => ({
  from: 0,
  to: 1,
  delivered: new Map(n === 0 ? [] : [['question', n]]),
  decided: new Map(),
  medianAnswer: null,
});
const anEntry = (subject: string) => ({ actor: 'test', action: 'decision.made', subject, data: {} });

describe('the weekly letter', () => {
  test('[D50] says in plain sentences what came and what was decided', async () => {
    const { world } = await busyWeek();
    const { week, from, to, letter } = await insights(world);
    expect([week, from, to]).toEqual([
      '2026-W47',
      '2026-11-16T00:00:00.000000Z',
      '2026-11-23T00:00:00.000000Z',
    ]);
    expect(letter.map((s) => s.text)).toEqual([
      '5 deliveries came this week, 4 more than the week before.',
      'The busiest day was Monday, with 4.',
      'There was 1 alert among them.',
      '3 decisions were made.',
      '2 were approved.',
      '1 was sent back with notes.',
      'Half of the answers took 25 hours or less.',
    ]);
  });

  test('[D50] what half of the answers took is said of all of them', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    await world.deliver();
    const decidedAt = clock.now();
    await world.room.store.write(world.space.id, ['ledger'], async (tx) => {
      for (let i = 0; i < 601; i++) {
        const seq = await record(world.room, tx, decidedAt, anEntry(`d-${i}`));
        const deliveredAt = decidedAt - (i < 301 ? 5 * HOUR : HOUR);
        const made = aDecision({ space: tx.space, seq, delivery: `d-${i}`, deliveredAt, decidedAt });
        await tx.decisions.insert({ ...made, state: 'effective' }, new Uint8Array());
      }
    });
    const { letter } = await insights(world);
    expect(letter.at(-1)?.text).toBe('Half of the answers took 5 hours or less.');
  });

  test.each([
    ['alike', [3, 3], ['6 deliveries came this week, 6 more than the week before.']],
    [
      'more than is counted',
      [3, 5000],
      ['5003 deliveries or more came this week.', 'The busiest day was Tuesday, with 5000 or more.'],
    ],
  ])('[D50] nothing is said of days that is not so: %s', (_, counts, said) => {
    const days = DAYS.map((_, i) => aDay(counts[i] ?? 0));
    const week = { week: { year: 2026, week: 47 }, timeZone: 'UTC', from: 0, to: 1, days };
    const told = letter({ ...week, medianAnswer: null, deliveredBefore: 0 }).map((s) => s.text);
    expect(told).toEqual([...said, 'Nothing was decided.']);
  });

  test('[D50] a week in which nothing happened takes two sentences', async () => {
    const { world } = await openDesk();
    const { letter } = await insights(world, '?week=2026-W01');
    expect(letter.map((s) => s.text)).toEqual(['Nothing was delivered this week.', 'Nothing was decided.']);
  });

  test('[D50] has at most five charts, and every count has a list with as many entries', async () => {
    const { world } = await busyWeek();
    const { charts } = await insights(world);
    expect(charts.map((c) => c.name)).toEqual([
      'deliveries',
      'types',
      'decisions',
      'verdicts',
      'answer_minutes',
    ]);
    for (const chart of charts.filter((c) => c.unit !== 'minutes')) {
      for (const point of chart.points) {
        const listed = await body<Record<string, unknown[]>>(
          world.desk('GET', `/desk/${chart.list}?${point.query}`),
        );
        const entries = listed.deliveries ?? listed.decisions;
        expect(entries, `${chart.name} ${point.label}`).toHaveLength(point.value ?? -1);
      }
    }
    const minutes = charts.find((c) => c.name === 'answer_minutes');
    expect(minutes?.points.map((p) => p.value)).toEqual([60, 1500, null, null, null, null, null]);
  });

  test('[D50] an undone decision is neither counted nor listed', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    const { charts } = await insights(world);
    const decisions = charts.find((c) => c.name === 'decisions')?.points ?? [];
    expect(decisions.map((p) => p.value)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    const sunday = await body<{ decisions: unknown[] }>(
      world.desk('GET', `/desk/history?${decisions[6]?.query}`),
    );
    expect(sunday.decisions).toEqual([]);
  });

  test('[D50] days are those of the person, also when the clocks change', async () => {
    const { world } = await openDesk();
    await world.desk('PUT', '/desk/preferences', { time_zone: 'Europe/Vienna' });
    const spring = await insights(world, '?week=2026-W13');
    expect([spring.from, spring.to]).toEqual(['2026-03-22T23:00:00.000000Z', '2026-03-29T22:00:00.000000Z']);
    expect(spring.time_zone).toBe('Europe/Vienna');
  });

  test('[D50] sees only its own space, and refuses invalid weeks', async () => {
    const { world } = await busyWeek();
    const stranger = await world.addPerson('s@example.com', 'owner', await world.addSpace('other'));
    const theirs = await body<Insights>(world.desk('GET', '/desk/insights', undefined, stranger.token));
    expect(theirs.letter[0]?.text).toBe('Nothing was delivered this week.');
    for (const week of ['2026-W54', '2026-W00', '2026-46', '2025-W53', 'x']) {
      expect(await refused(world.desk('GET', `/desk/insights?week=${week}`)), week).toMatchObject({
        status: 422,
        field: 'week',
      });
    }
  });
});

test('ISO weeks: the year is that of the Thursday', () => {
  const date = (year: number, month: number, day: number) => ({ year, month, day, hour: 0, minute: 0 });
  expect(fromIsoWeek(weekOf(date(2027, 1, 3)))).toBe('2026-W53');
  expect(fromIsoWeek(weekOf(date(2024, 12, 30)))).toBe('2025-W01');
  expect(fromIsoWeek(weekOf(date(2026, 11, 15)))).toBe('2026-W46');
  expect(mondayOf({ year: 2026, week: 53 })).toMatchObject(date(2026, 12, 28));
  expect(toIsoWeek('2026-W53')).toEqual({ year: 2026, week: 53 });
});

test('times are said as a person would', () => {
  expect([10 * SECOND, 60 * SECOND, 89 * 60 * SECOND, 2 * HOUR, 3 * DAY].map(duration)).toEqual([
    'less than a minute',
    '1 minute',
    '89 minutes',
    '2 hours',
    '3 days',
  ]);
  expect([10 * SECOND, 2 * HOUR].map(atMost)).toEqual(['less than a minute', '2 hours or less']);
});
