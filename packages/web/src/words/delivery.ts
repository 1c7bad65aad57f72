import type { DeliveryType, Row, Section, Verdict } from '../api/types.ts';
import { atMoment, isWithinDay, moment } from './time.ts';

export const SECTION_WORDS: Record<Section, string> = {
  needs_you: 'Needs you',
  alerts: 'Alerts',
  new_agents: 'New agents',
  to_read: 'To read',
  snoozed: 'Snoozed',
  earlier: 'Earlier',
};

export const TYPE_WORDS: Record<DeliveryType, string> = {
  question: 'Question',
  output: 'Output',
  alert: 'Alert',
  update: 'Update',
};

export const VERDICT_WORDS: Record<Verdict, string> = {
  approved: 'Approved',
  redirected: 'Redirected',
  rejected: 'Rejected',
};

export const asksForAnswer = (type: DeliveryType) => type === 'question' || type === 'output';

/** The words under a headline: only those that apply. */
export function rowWords(row: Row, now: number): string[] {
  const words = stateWords(row, now);
  if (row.irreversible) words.push('cannot be undone');
  if (row.parts > 1) words.push(`${row.parts} parts`);
  if (row.revision > 1) words.push(`revision ${row.revision}`);
  if (row.tier === 'test') words.push('test key');
  if (row.sample === true) words.push('sample');
  return words;
}

/**
 * A question of a task is over as soon as the task goes on, whoever saw to that: its agent, its caller, or a person
 * who cancelled it. Any other is withdrawn by its agent alone.
 */
export const isOfTask = ({ provider }: Pick<Row, 'provider'>) => provider === 'a2a';

/** What has become of it so far. */
export function stateWords(row: Row, now: number): string[] {
  const words: string[] = [];
  if (row.state === 'held')
    words.push(`${row.held_status ? VERDICT_WORDS[row.held_status] : 'Answered'}, not sent yet`);
  if (row.state === 'decided' && row.status !== 'pending')
    words.push(VERDICT_WORDS[row.status].toLowerCase());
  if (row.state === 'withdrawn') words.push(isOfTask(row) ? 'no longer asked' : 'withdrawn by the agent');
  if (row.state === 'superseded') words.push('replaced by a newer revision');
  if (row.state === 'pending') words.push(...pendingWords(row, now));
  return words;
}

type Asleep = { snoozed_until: string };

export const isAsleep = <R extends Pick<Row, 'snoozed_until'>>(row: R, now: number): row is R & Asleep =>
  row.snoozed_until !== null && Date.parse(row.snoozed_until) > now;

function pendingWords(row: Row, now: number): string[] {
  if (isAsleep(row, now)) return [`back ${moment(row.snoozed_until, now)}`];
  if (row.timed_out_at !== null) return ['the agent went on by itself'];
  if (row.timeout_at !== null && isWithinDay(row.timeout_at, now))
    return [`until ${moment(row.timeout_at, now)}`];
  if (row.read_at !== null) return ['read'];
  return [];
}

/** What happens if the person does not answer, in the system's voice. */
export function silenceWords(row: Row, now: number): string | null {
  if (row.state !== 'pending') return null;
  if (row.timed_out_at !== null)
    return `The agent went on by itself ${atMoment(row.timed_out_at, now)}. A late answer still reaches it.`;
  if (row.timeout_at !== null)
    return `If you do nothing: the agent goes on by itself ${atMoment(row.timeout_at, now)}.`;
  if (!asksForAnswer(row.type)) return null;
  return 'If you do nothing: the agent waits.';
}
