import type { ResumePolicy, Subscription } from '../api/event-types.ts';
import type { Json } from '../api/types.ts';
import { listed } from '../words/numbers.ts';
import { span } from '../words/time.ts';

const RESUMES: Record<ResumePolicy, string> = {
  never: 'An event wakes no run of it.',
  append_only: 'Events are noted for its runs and wake none.',
  resume_if_waiting: 'An event wakes a run that waits for it.',
  resume_immediately: 'An event may wake a run at once.',
};

const ORDER: readonly ResumePolicy[] = ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'];

/** A subscription may allow more than the inbox does; the stricter of the two applies. */
export function resumeWords(furthest: ResumePolicy, most: ResumePolicy): string {
  return RESUMES[ORDER[Math.min(ORDER.indexOf(furthest), ORDER.indexOf(most))] ?? 'never'];
}

export function typesWords(types: readonly string[]): string {
  return types.includes('*') ? 'Every event' : listed(types);
}

/** The conditions besides the event type, one phrase each. */
export function conditions(s: Subscription): string[] {
  const phrases = Object.entries(s.filters).map(([path, value]) => `${path} is ${oneOf(value)}`);
  if (s.source_names !== null) phrases.push(`it comes from ${eitherOf(s.source_names)}`);
  if (s.producer_ids !== null) phrases.push(`the producer is ${eitherOf(s.producer_ids)}`);
  if (s.key_ids !== null) phrases.push(`it is signed with ${eitherOf(s.key_ids)}`);
  if (s.max_payload_bytes !== null) phrases.push(`it has at most ${s.max_payload_bytes} bytes`);
  return phrases;
}

function oneOf(value: Json): string {
  return Array.isArray(value) ? eitherOf(value.map((v) => JSON.stringify(v))) : JSON.stringify(value);
}

function eitherOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

export function deliveryWords({ delivery, kept_seconds: kept }: Subscription): string {
  const way =
    delivery.type === 'webhook'
      ? `Forwarded, signed, to ${delivery.url ?? 'nowhere'}.`
      : `The agent fetches them (${delivery.type.replaceAll('_', ' ')}).`;
  return `${way} They can be read again for ${span(kept)}.`;
}
