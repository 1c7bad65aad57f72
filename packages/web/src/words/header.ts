import type { Overview } from '../api/types.ts';
import { capital, inWords, listed, plural } from './numbers.ts';
import { atMoment } from './time.ts';

type Counts = Overview['sections'];

/**
 * "Four things need you. About nine minutes." If there are only deliveries of new agents, the sentence is about them.
 * `minutes` are those of a sitting, which has both.
 */
export function needWords(counts: Counts, minutes: number): string {
  const { needs_you, new_agents } = counts;
  if (needs_you === 0 && new_agents === 0) return 'Nothing needs you.';
  const time = timeWords(minutes);
  const isOfBoth = needs_you > 0 && new_agents > 0;
  return `${thingsWords(counts)} ${time}${isOfBoth ? ' with new agents' : ''}.`;
}

function thingsWords({ needs_you, new_agents }: Counts): string {
  if (needs_you === 1) return 'One thing needs you.';
  if (needs_you > 1) return `${capital(inWords(needs_you))} things need you.`;
  return new_agents === 1
    ? 'A new agent has delivered something.'
    : `New agents have delivered ${inWords(new_agents)} things.`;
}

function timeWords(minutes: number): string {
  if (minutes <= 1) return 'About a minute';
  if (minutes < 90) return `About ${inWords(minutes)} minutes`;
  return `About ${inWords(Math.round(minutes / 60))} hours`;
}

/** What else is there, in one calm sentence; empty if there is nothing. New agents are not named twice. */
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

/** Said under "Nothing needs you." if there is nothing else to say. */
export const lastWords = (decidedAt: string | null, now: number) =>
  decidedAt === null ? '' : `The last decision was ${atMoment(decidedAt, now)}.`;
