import { expect, test } from 'vitest';
import type { Subscription } from '../api/event-types.ts';
import { conditions, deliveryWords, resumeWords, typesWords } from './subscription-words.ts';

const subscription = (over: Partial<Subscription> = {}): Subscription => ({
  subscription_id: 'sub_1',
  default: false,
  created_at: '2026-11-15T09:00:00Z',
  event_types: ['*'],
  filters: {},
  source_names: null,
  producer_ids: null,
  key_ids: null,
  max_payload_bytes: null,
  delivery: { type: 'long_poll', url: null },
  furthest_resume: 'resume_immediately',
  kept_seconds: 604_800,
  ...over,
});

test('[D58] a subscription is told in words: types, conditions, the way and what it may wake', () => {
  expect(typesWords(['*'])).toBe('Every event');
  expect(typesWords(['tool.completed', 'tool.failed'])).toBe('tool.completed and tool.failed');
  const one = subscription({
    filters: { 'subject.task_id': ['a', 'b'], 'knowledge.kind': 'observation' },
    source_names: ['ci'],
    max_payload_bytes: 100,
  });
  expect(conditions(one)).toEqual([
    'subject.task_id is "a" or "b"',
    'knowledge.kind is "observation"',
    'it comes from ci',
    'it has at most 100 bytes',
  ]);
  expect(deliveryWords(one)).toMatch(/^The agent fetches them \(long poll\)\. .* for 7 days\.$/);
  const forward = subscription({ delivery: { type: 'webhook', url: 'https://a.example/x' } });
  expect(deliveryWords(forward)).toContain('Forwarded, signed, to https://a.example/x.');
});

test('[D58] the stricter of subscription and inbox says what an event may wake', () => {
  expect(resumeWords('resume_immediately', 'append_only')).toBe(
    'Events are noted for its runs and wake none.',
  );
  expect(resumeWords('never', 'resume_immediately')).toBe('An event wakes no run of it.');
});
