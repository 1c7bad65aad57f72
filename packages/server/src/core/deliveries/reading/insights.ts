import { median } from '../../agents/stats.ts';
import { placeAt } from '../../ledger/place.ts';
import type { Person } from '../../people/person.ts';
import { preferencesOf } from '../../people/preferences/choose.ts';
import { type IsoWeek, mondayOf } from '../../people/sittings/iso-week.ts';
import { addDays, fromWall } from '../../people/sittings/zone.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { DELIVERY_TYPES, type DeliveryType, type Verdict } from '../delivery.ts';

/** A day on which more happened is counted up to here: the letter is to be read in a minute. */
export const MOST_A_DAY = 5000;
/** People answer, so this is all of them: of a part nobody could say what half of them took. */
const MOST_TIMES = 5000;

export type Day = {
  from: Micros;
  to: Micros;
  delivered: ReadonlyMap<DeliveryType, number>;
  decided: ReadonlyMap<Verdict, number>;
  /** From delivery to decision; null when nothing was decided. */
  medianAnswer: Micros | null;
};

export type Week = {
  week: IsoWeek;
  timeZone: string;
  from: Micros;
  to: Micros;
  days: readonly Day[];
  medianAnswer: Micros | null;
  /** Deliveries of the week before. */
  deliveredBefore: number;
};

/** What happened in a week of the person's own calendar. */
export function weekAt(room: Room, person: Person, choose: (timeZone: string) => IsoWeek): Promise<Week> {
  return room.store.read(person.space, async (tx) => {
    const { timeZone } = (await preferencesOf(room, tx, person)).preferences;
    const week = choose(timeZone);
    const starts = Array.from({ length: 8 }, (_, day) =>
      fromWall(addDays(mondayOf(week), day), timeZone),
    ) as [Micros, ...Micros[]];
    const places: number[] = [];
    for (const start of starts) places.push(await placeAt(tx, start));
    const days: Day[] = [];
    for (let i = 0; i < 7; i++) {
      const span = { from: starts[i] ?? 0, to: starts[i + 1] ?? 0 };
      days.push(await dayAt(tx, span, { from: places[i] ?? 0, before: places[i + 1] ?? 0 }));
    }
    const whole = { from: places[0] ?? 0, before: places[7] ?? 0 };
    const lastMonday = fromWall(addDays(mondayOf(week), -7), timeZone);
    return {
      week,
      timeZone,
      from: starts[0],
      to: starts[7] ?? starts[0],
      days,
      medianAnswer: median(await tx.counts.answerTimes({ ...whole, most: MOST_TIMES })),
      deliveredBefore: sum(
        await tx.counts.deliveredBetween(await placeAt(tx, lastMonday), whole.from, 7 * MOST_A_DAY),
      ),
    };
  });
}

type Places = { from: number; before: number };

async function dayAt(tx: Tx, span: { from: Micros; to: Micros }, { from, before }: Places): Promise<Day> {
  return {
    ...span,
    delivered: await tx.counts.deliveredBetween(from, before, MOST_A_DAY),
    decided: await tx.counts.decidedBetween(from, before, MOST_A_DAY),
    medianAnswer: median(await tx.counts.answerTimes({ from, before, most: MOST_TIMES })),
  };
}

export function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const n of counts.values()) all += n;
  return all;
}

/** Over the whole week, by name; what did not happen is there with zero. */
export function byType({ days }: Week): { name: DeliveryType; n: number }[] {
  return DELIVERY_TYPES.map((name) => ({ name, n: total(days, (d) => d.delivered.get(name)) }));
}

const VERDICT_ORDER: readonly Verdict[] = ['approved', 'redirected', 'rejected'];

export function byVerdict({ days }: Week): { name: Verdict; n: number }[] {
  return VERDICT_ORDER.map((name) => ({ name, n: total(days, (d) => d.decided.get(name)) }));
}

function total(days: readonly Day[], read: (day: Day) => number | undefined): number {
  return days.reduce((all, day) => all + (read(day) ?? 0), 0);
}
