const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const two = (number: number) => String(number).padStart(2, '0');

/**
 * 17:30, in the browser's current time zone: a laptop travels with its pages open, and a formatter would keep the
 * zone it was made in.
 */
export function clock(iso: string | number): string {
  const date = new Date(iso);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The number of the calendar day, which is right even when summer time makes a day longer or shorter. */
const dayNumber = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;

/** "today", "yesterday", "Tuesday", "3 November", "3 November 2025": as short as is unambiguous. */
export function day(iso: string | number, now: number): string {
  const then = new Date(iso);
  const today = new Date(now);
  const apart = dayNumber(today) - dayNumber(then);
  if (apart === 0) return 'today';
  if (apart === 1) return 'yesterday';
  if (apart === -1) return 'tomorrow';
  if (Math.abs(apart) < 7) return WEEKDAYS[then.getDay()] ?? '';
  const sameYear = today.getFullYear() === then.getFullYear();
  const date = `${then.getDate()} ${MONTHS[then.getMonth()] ?? ''}`;
  return sameYear ? date : `${date} ${then.getFullYear()}`;
}

/** "17:30" today, otherwise "Tuesday 17:30". */
export function moment(iso: string | number, now: number): string {
  const when = day(iso, now);
  return when === 'today' ? clock(iso) : `${when} ${clock(iso)}`;
}

/** "at 17:30", "tomorrow at 17:30", "on Tuesday at 17:30": as the end of a sentence. */
export function atMoment(iso: string | number, now: number): string {
  const when = day(iso, now);
  if (when === 'today') return `at ${clock(iso)}`;
  const isNear = when === 'tomorrow' || when === 'yesterday';
  return `${isNear ? when : `on ${when}`} at ${clock(iso)}`;
}

/** "09:12 today", for places where the day must be named. */
export function timeAndDay(iso: string | number, now: number): string {
  return `${clock(iso)} ${day(iso, now)}`;
}

/** " from 09:12 today to 10:00 today", for a link that limits the time; empty when it does not. */
export function between(from: string | undefined, to: string | undefined, now: number): string {
  const since = from === undefined ? '' : ` from ${timeAndDay(from, now)}`;
  return `${since}${to === undefined ? '' : ` to ${timeAndDay(to, now)}`}`;
}

/** Age in words, short: "now", "4 min", "3 h", "yesterday", "Tuesday", "3 November". */
export function age(iso: string, now: number): string {
  const passed = now - Date.parse(iso);
  if (passed < MINUTE) return 'now';
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < 6 * HOUR || day(iso, now) === 'today') return `${Math.floor(passed / HOUR)} h`;
  return day(iso, now);
}

/** "4 seconds", "12 minutes", "3 hours", "2 days": one unit, rounded, never less than 1. */
export function span(seconds: number): string {
  const units: [number, string][] = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ];
  const [size, name] = units.find(([unit]) => seconds >= unit * (unit === 1 ? 0 : 1.5)) ?? [1, 'second'];
  const count = Math.max(1, Math.round(seconds / size));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Whole seconds until then, never below zero. */
export function secondsUntil(iso: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(iso) - now) / 1000));
}

/** "8 s", or "5 min" where seconds would only be restless. */
export const countdown = (seconds: number) =>
  seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;

export function isWithinDay(iso: string, now: number): boolean {
  const left = Date.parse(iso) - now;
  return left > 0 && left <= DAY;
}
