import type { Micros } from '../../time.ts';
import { addDays, fromWall, toWall, weekday } from './zone.ts';

/** When a person means to sit down at the desk: ISO 8601 weekdays, and the time on their own clock. */
export type Sitting = { days: readonly number[]; at: string };
/** Quiet hours on the person's own clock; they span midnight when `from` is later than `to`. */
export type Quiet = { from: string; to: string };

export type Rhythm = { timeZone: string; sittings: readonly Sitting[]; quiet: Quiet | null };

const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/;

export function isClock(text: string): boolean {
  return CLOCK.test(text);
}

function toClock(text: string): { hour: number; minute: number } {
  const m = CLOCK.exec(text);
  if (m === null) throw new Error(`${text} is no time of day`);
  return { hour: Number(m[1]), minute: Number(m[2]) };
}

// A week and a day: if today's sitting is over, the same weekday comes again.
const DAYS_AHEAD = 8;

/** The first sitting after a moment; null without sittings. `fromWall` handles daylight saving. */
export function nextSitting({ timeZone, sittings }: Rhythm, after: Micros): Micros | null {
  const today = toWall(after, timeZone);
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const date = addDays(today, ahead);
    const onDay = sittings
      .filter((s) => s.days.includes(weekday(date)))
      .map((s) => fromWall({ ...date, ...toClock(s.at) }, timeZone))
      .filter((at) => at > after);
    if (onDay.length > 0) return Math.min(...onDay);
  }
  return null;
}

export function isQuiet({ timeZone, quiet }: Rhythm, at: Micros): boolean {
  if (quiet === null) return false;
  const wall = toWall(at, timeZone);
  const now = wall.hour * 60 + wall.minute;
  const [from, to] = [quiet.from, quiet.to].map(toClock).map((c) => c.hour * 60 + c.minute) as [
    number,
    number,
  ];
  return from <= to ? from <= now && now < to : now >= from || now < to;
}

/** A sitting inside the quiet hours brings no digest; the next one outside does. */
export function nextDigest(rhythm: Rhythm, after: Micros): Micros | null {
  let at = nextSitting(rhythm, after);
  // Seven days of at most a few sittings: if all of them are quiet, there is never a digest.
  for (let tries = 0; at !== null && isQuiet(rhythm, at); tries++) {
    if (tries >= MOST_SITTINGS * 7) return null;
    at = nextSitting(rhythm, at);
  }
  return at;
}

export const MOST_SITTINGS = 12;
