import type { Micros } from '../../time.ts';

/** A date and time as a clock on the wall shows it. `month` and `day` from 1. */
export type WallTime = { year: number; month: number; day: number; hour: number; minute: number };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

// Offsets such as +01:00 know no daylight saving, so a person is better served by a place.
const PLACE = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}

/** A name of the time zone database, such as Europe/Vienna. */
export function isTimeZone(text: string): boolean {
  if (text.length > 64 || !PLACE.test(text)) return false;
  try {
    formatOf(text);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of a zone show, as if they were UTC: the difference is the offset. */
function wallMs(atMs: number, zone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function offsetMs(atMs: number, zone: string): number {
  return wallMs(atMs, zone) - Math.floor(atMs / 1000) * 1000;
}

export function toWall(at: Micros, zone: string): WallTime {
  const wall = new Date(wallMs(Math.floor(at / 1000), zone));
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
  };
}

/**
 * The moment at which the clocks of a zone show this. A time that is skipped when the clocks go forward is moved
 * on by as much as they are; of a time that comes twice the first counts (Temporal calls this "compatible").
 */
export function fromWall(wall: WallTime, zone: string): Micros {
  const ms = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const before = offsetMs(ms - DAY_MS, zone);
  const after = offsetMs(ms + DAY_MS, zone);
  const right = [ms - before, ms - after].filter((at) => wallMs(at, zone) === ms);
  return (right.length === 0 ? ms - before : Math.min(...right)) * 1000;
}

/** The date some days later; 31 + 1 rolls over. */
export function addDays(date: WallTime, days: number): WallTime {
  const moved = new Date(Date.UTC(date.year, date.month - 1, date.day + days));
  return {
    ...date,
    year: moved.getUTCFullYear(),
    month: moved.getUTCMonth() + 1,
    day: moved.getUTCDate(),
  };
}

/** 1 is Monday, 7 is Sunday, as ISO 8601 counts. */
export function weekday({ year, month, day }: WallTime): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() || 7;
}
