import type { Overview } from '../api/types.ts';
import { capital, inWords, listed, plural } from './numbers.ts';

type Counts = Overview['sections'];

/** An answer takes about this long at most; what is beyond that is for the rest that lies there. */
const LONGEST_ANSWER = 3;

/** "Four things need you. About nine minutes." */
export function needWords(count: number, minutes: number): string {
  if (count === 0) return 'Nothing needs you.';
  const things = count === 1 ? 'One thing needs you.' : `${capital(inWords(count))} things need you.`;
  const time = timeWords(minutes);
  return `${things} ${minutes > count * LONGEST_ANSWER ? time.replace(/\.$/, ' for everything.') : time}`;
}

function timeWords(minutes: number): string {
  if (minutes < 1) return 'Less than a minute.';
  const whole = Math.round(minutes);
  if (whole === 1) return 'About a minute.';
  if (whole < 90) return `About ${inWords(whole)} minutes.`;
  return `About ${inWords(Math.round(whole / 60))} hours.`;
}

/** What else lies there, in one calm sentence; empty when nothing does. */
export function restWords(counts: Counts): string {
  const parts = [
    counts.alerts > 0 && plural(counts.alerts, 'alert'),
    counts.new_agents > 0 &&
      `${inWords(counts.new_agents)} from ${counts.new_agents === 1 ? 'a new agent' : 'new agents'}`,
    counts.to_read > 0 && `${inWords(counts.to_read)} to read`,
    counts.snoozed > 0 && `${inWords(counts.snoozed)} snoozed`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? '' : `${capital(listed(parts))}.`;
}

/** About how long, when the server has not said: two minutes for each answer. */
export const guessMinutes = (count: number) => count * 2;
