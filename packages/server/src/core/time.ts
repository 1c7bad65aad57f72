/** Microseconds since 1970. Fits a JavaScript number exactly until the year 2255. */
export type Micros = number;

export const SECOND: Micros = 1_000_000;
export const HOUR: Micros = 3600 * SECOND;
export const DAY: Micros = 24 * HOUR;

/** The only source of "now". */
export interface Clock {
  now(): Micros;
}

/** UTC, ISO 8601, six fractional digits, `Z` (W6). */
export function toIso(at: Micros): string {
  const millis = Math.floor(at / 1000);
  const rest = at - millis * 1000;
  return `${new Date(millis).toISOString().slice(0, 23)}${String(rest).padStart(3, '0')}Z`;
}

export function toIsoOrNull(at: Micros | null): string | null {
  return at === null ? null : toIso(at);
}

// A "+" that was not percent-encoded in a query string arrives as a space; both are read as a plus.
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+\- ])(\d{2}):?(\d{2}))?)?$/;

/** Reads ISO 8601; a time without a zone is UTC. Null when it is not a real moment. */
export function fromIso(text: string): Micros | null {
  const m = ISO.exec(text);
  if (m === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = m;
  const offset = offsetMinutes(m[9], Number(m[10] ?? 0), Number(m[11] ?? 0));
  const midnight = midnightOf(Number(year), Number(month) - 1, Number(day));
  if (offset === null || midnight === null) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  const micros = Number(fraction.padEnd(6, '0').slice(0, 6));
  return midnight + (minutes * 60 + Number(second)) * SECOND + micros;
}

/** Not `Date.UTC`: that takes the years 0 to 99 for 1900 to 1999, and 30 February for a day in March. */
function midnightOf(year: number, month: number, day: number): Micros | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() * 1000 : null;
}

function offsetMinutes(sign: string | undefined, hours: number, minutes: number): number | null {
  if (hours > 23 || minutes > 59) return null;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}
