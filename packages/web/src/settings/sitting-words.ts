import type { Preferences, Sitting } from '../api/types.ts';
import { isWithin } from '../words/quiet.ts';

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Names as short as they fit beside a box. */
export const SHORT_DAYS = DAYS.map((name) => name.slice(0, 3));

const WEEK = 7;
/** So many days in a row are told by the first and the last. */
const ROW = 3;

/** "every day", "Monday to Friday", "Sunday", "Mon, Wed, Sat" */
export function daysWords(days: readonly number[]): string {
  if (days.length === WEEK) return 'every day';
  const [first = 0] = days;
  const last = days.at(-1) ?? 0;
  if (days.length === 1) return DAYS[first - 1] ?? '';
  if (days.length >= ROW && last - first === days.length - 1)
    return `${DAYS[first - 1]} to ${DAYS[last - 1]}`;
  return days.map((day) => SHORT_DAYS[day - 1]).join(', ');
}

export const byTime = (sittings: readonly Sitting[]) =>
  [...sittings].sort((a, b) => a.at.localeCompare(b.at) || a.days.join().localeCompare(b.days.join()));

/** Adds a sitting; another one at the same time gets its days. */
export function withSitting(sittings: readonly Sitting[], added: Sitting): Sitting[] {
  const same = sittings.filter(({ at }) => at === added.at);
  const days = [...new Set([...same, added].flatMap((sitting) => sitting.days))].sort();
  return byTime([...sittings.filter(({ at }) => at !== added.at), { at: added.at, days }]);
}

type Rhythm = Pick<Preferences, 'sittings' | 'quiet' | 'digest'>;

/** What the digest does. One that is on but can never come says so: nobody would notice that it does not. */
export function digestWords({ sittings, quiet, digest }: Rhythm): string {
  if (digest.kind === 'off') return 'Off. Nothing is ever sent to you.';
  const words = `One message at each sitting, to ${digest.target}.`;
  if (sittings.length === 0) return `${words} There is no sitting yet, so nothing comes: add one above.`;
  const isNever = quiet !== null && sittings.every(({ at }) => isWithin(quiet, at));
  return isNever ? `${words} All your sittings are in the quiet hours, so nothing comes.` : words;
}
