const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// A formatter costs more than the row it is for, so each kind is made once. Times are shown where the browser is.
const formatters = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions, date: Date, locale = 'en-GB'): string {
  const key = locale + JSON.stringify(options);
  const known = formatters.get(key) ?? new Intl.DateTimeFormat(locale, options);
  formatters.set(key, known);
  return known.format(date);
}

/** 17:30 */
export function clock(iso: string | number): string {
  return format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, new Date(iso));
}

const dayKey = (ms: number) =>
  format({ year: 'numeric', month: '2-digit', day: '2-digit' }, new Date(ms), 'en-CA');

/** "today", "yesterday", "Tuesday", "3 November", "3 November 2025": as short as it can be without doubt. */
export function day(iso: string | number, now: number): string {
  const then = new Date(iso);
  const apart = Math.round((Date.parse(dayKey(now)) - Date.parse(dayKey(then.getTime()))) / DAY);
  if (apart === 0) return 'today';
  if (apart === 1) return 'yesterday';
  if (apart === -1) return 'tomorrow';
  if (Math.abs(apart) < 7) return format({ weekday: 'long' }, then);
  const sameYear = dayKey(now).slice(0, 4) === dayKey(then.getTime()).slice(0, 4);
  return format({ day: 'numeric', month: 'long', ...(sameYear ? {} : { year: 'numeric' }) }, then);
}

/** "17:30" today, else "Tuesday 17:30". */
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

/** "09:12 today", for places where the day must be said. */
export function timeAndDay(iso: string | number, now: number): string {
  return `${clock(iso)} ${day(iso, now)}`;
}

/** " from 09:12 today to 10:00 today", for what a link limits in time; empty when it does not. */
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

/** "4 seconds", "12 minutes", "3 hours", "2 days": one unit, rounded. Nothing takes no time at all. */
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

export function isWithinDay(iso: string, now: number): boolean {
  const left = Date.parse(iso) - now;
  return left > 0 && left <= DAY;
}
