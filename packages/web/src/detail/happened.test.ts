import { expect, test } from 'vitest';
import type { Callback, Detail } from '../api/types.ts';
import { callbackWords, happened } from './happened.ts';

const AT = '2026-11-15T09:00:00.000000Z';
const NOW = Date.parse('2026-11-15T10:00:00Z');

const QUIET = {
  agent_id: 'agent-01',
  created_at: AT,
  read_at: null,
  read_by: null,
  withdrawn_at: null,
  timed_out_at: null,
  decisions: [],
  callbacks: [],
  attempts: [],
} as unknown as Detail;

const words = (over: Partial<Detail>) => happened({ ...QUIET, ...over }, NOW).map(({ text }) => text);

test('[D15] what happened says who read it, after it was sent', () => {
  const read_at = '2026-11-15T09:30:00.000000Z';
  expect(words({})).toEqual(['agent-01 sent it.']);
  expect(words({ read_at, read_by: { person_id: 'pe_1', name: 'Olga Owner' } })).toEqual([
    'agent-01 sent it.',
    'Olga Owner read it.',
  ]);
  expect(words({ read_at, read_by: { person_id: 'pe_1', name: null } })[1]).toBe('Somebody read it.');
});

test('[D20] each way in which a callback can fail has words, and what was not called is not said to have been', () => {
  const callbacks = [{ job_id: 'j', origin: 'https://example.com' }] as Detail['callbacks'];
  const told = (outcome: string) =>
    words({ callbacks, attempts: [{ at: AT, job_id: 'j', outcome, status: null }] as Detail['attempts'] })[1];
  const called = ['dns', 'connect', 'tls', 'timeout', 'reset', 'garbage', 'too_large'].map(told);
  const left = ['refused_request', 'refused_address', 'target_not_allowed', 'unreadable'].map(told);
  expect(called).toEqual(
    Array(7).fill(expect.stringMatching(/^https:\/\/example\.com was called but [^(]+\.$/)),
  );
  expect(left).toEqual(
    Array(4).fill(expect.stringMatching(/^https:\/\/example\.com was not called: [^(]+\.$/)),
  );
  expect(told('of another build')).toContain('it did not work (of another build)');
});

test('[D20] a callback that was never tried is on its way; one that failed says when it is due', () => {
  const due = { job_id: 'j', origin: 'https://example.com', state: 'due', due_at: AT } as Callback;
  expect(callbackWords({ ...due, attempts: 0 }, NOW)).toBe(
    'The callback to https://example.com is on its way.',
  );
  expect(callbackWords({ ...due, attempts: 1 }, NOW)).toMatch(/ is due .+, after one attempt\.$/);
});
