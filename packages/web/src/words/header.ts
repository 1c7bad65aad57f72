import type { Overview } from '../api/types.ts';
import { capital, inWords, listed, plural } from './numbers.ts';

type Counts = Overview['sections'];

/** An answer takes about this long at most; what is beyond that is for the rest that lies there. */
const LONGEST_ANSWER = 3;

/** "Four things need you. About nine minutes." Where only new agents have come, they are what needs the person. */
export function needWords(counts: Counts, minutes: number): string {
  const count = counts.needs_you || counts.new_agents;
  if (count === 0) return 'Nothing needs you.';
  const time = timeWords(minutes);
  return `${thingsWords(counts)} ${minutes > count * LONGEST_ANSWER ? time.replace(/\.$/, ' for everything.') : time}`;
}

function thingsWords({ needs_you, new_agents }: Counts): string {
  if (needs_you === 1) return 'One thing needs you.';
  if (needs_you > 1) return `${capital(inWords(needs_you))} things need you.`;
  return new_agents === 1
    ? 'A new agent has delivered something.'
    : `New agents have delivered ${inWords(new_agents)} things.`;
}

function timeWords(minutes: number): string {
  if (minutes < 1) return 'Less than a minute.';
  const whole = Math.round(minutes);
  if (whole === 1) return 'About a minute.';
  if (whole < 90) return `About ${inWords(whole)} minutes.`;
  return `About ${inWords(Math.round(whole / 60))} hours.`;
}

/** What else lies there, in one calm sentence; empty when nothing does. New agents are not named twice. */
export function restWords(counts: Counts): string {
  const parts = [
    counts.alerts > 0 && plural(counts.alerts, 'alert'),
    counts.needs_you > 0 &&
      counts.new_agents > 0 &&
      `${inWords(counts.new_agents)} from ${counts.new_agents === 1 ? 'a new agent' : 'new agents'}`,
    counts.to_read > 0 && `${inWords(counts.to_read)} to read`,
    counts.snoozed > 0 && `${inWords(counts.snoozed)} snoozed`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? '' : `${capital(listed(parts))}.`;
}

/** About how long, when the server has not said: two minutes for each answer. */
export const guessMinutes = (count: number) => count * 2;
