import { addDays, type WallTime, weekday } from './zone.ts';

/** A week as ISO 8601 numbers them: it begins on Monday and belongs to the year of its Thursday. */
export type IsoWeek = { year: number; week: number };

const MIDNIGHT = { hour: 0, minute: 0 };
const DAY_MS = 86_400_000;

export function weekOf(date: WallTime): IsoWeek {
  const thursday = addDays(date, 4 - weekday(date));
  const dayOfYear = daysBetween({ ...thursday, month: 1, day: 1 }, thursday);
  return { year: thursday.year, week: Math.floor(dayOfYear / 7) + 1 };
}

export function mondayOf({ year, week }: IsoWeek): WallTime {
  const fourth = { year, month: 1, day: 4, ...MIDNIGHT }; // always in the first week
  return addDays(fourth, 1 - weekday(fourth) + 7 * (week - 1));
}

export function toIsoWeek(text: string): IsoWeek | null {
  const m = /^(\d{4})-W(\d{2})$/.exec(text);
  if (m === null) return null;
  const asked = { year: Number(m[1]), week: Number(m[2]) };
  // Week 53 of a year that has none would be the first week of the next.
  return asked.week >= 1 && asked.year >= 1970 && fromIsoWeek(weekOf(mondayOf(asked))) === text
    ? asked
    : null;
}

export function fromIsoWeek({ year, week }: IsoWeek): string {
  return `${year}-W${String(week).padStart(2, '0')}`;
}

function daysBetween(a: WallTime, b: WallTime): number {
  const at = (d: WallTime) => Date.UTC(d.year, d.month - 1, d.day);
  return Math.round((at(b) - at(a)) / DAY_MS);
}
