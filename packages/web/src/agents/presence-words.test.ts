import { expect, test } from 'vitest';
import { connectionWords, presenceWords } from './presence-words.ts';

const now = Date.parse('2026-11-15T12:00:00Z');
const today = '2026-11-15T11:00:00Z';

test('[D65] an agent that has never connected is not called asleep', () => {
  const polls = { online: false, last_seen_at: today, connected_at: null };
  expect(presenceWords(polls, now)).toMatch(/^last seen /);
  expect(connectionWords(polls, now)).toBe('It has never connected.');
});

test('[D65] one whose laptop has gone is asleep, one whose laptop is there is online', () => {
  const gone = { online: false, last_seen_at: today, connected_at: today };
  expect(presenceWords(gone, now)).toMatch(/^asleep, last seen /);
  expect(connectionWords(gone, now)).toMatch(/^It is asleep, last connected /);
  expect(presenceWords({ ...gone, online: true }, now)).toBe('online');
  expect(presenceWords({ online: false, last_seen_at: null, connected_at: null }, now)).toBe('never seen');
});
