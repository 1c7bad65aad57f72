import { expect, test } from 'vitest';
import { anEvent } from '../../../testing/akep/akep.ts';
import { aWait } from '../../../testing/stores/event-things.ts';
import type { Envelope } from '../event.ts';
import { matches } from './wait.ts';

const NOW = 1_000_000;

const wait = aWait({ subject: { task_id: 't', nothing: null } });

function event(over: Record<string, unknown> = {}): Envelope {
  return anEvent({
    event_type: 'tool.completed',
    subject: { task_id: 't', nothing: null, other: 'x' },
    routing: { resume_policy: 'resume_if_waiting', interrupt_id: 'int_1' },
    ...over,
  }) as unknown as Envelope;
}

test('[K20] a wait matches what has everything that it names, whatever else is there', () => {
  expect(matches(wait, event(), NOW)).toBe(true);
  const anything = aWait({ subject: {}, eventTypes: null, interruptId: null });
  expect(matches(anything, event({ subject: {}, routing: { resume_policy: 'never' } }), NOW)).toBe(true);
});

test.each([
  ['another type', { event_type: 'tool.failed' }],
  ['another interrupt', { routing: { resume_policy: 'resume_if_waiting', interrupt_id: 'int_2' } }],
  ['no interrupt', { routing: { resume_policy: 'resume_if_waiting' } }],
  ['another subject', { subject: { task_id: 'u', nothing: null } }],
  ['a subject without a name that it asks to be null', { subject: { task_id: 't' } }],
])('[K20] %s does not match', (_, over) => {
  expect(matches(wait, event(over), NOW)).toBe(false);
});

test('[K20] a wait ends in the very moment it names', () => {
  expect(matches({ ...wait, expiresAt: NOW + 1 }, event(), NOW)).toBe(true);
  expect(matches({ ...wait, expiresAt: NOW }, event(), NOW)).toBe(false);
});
