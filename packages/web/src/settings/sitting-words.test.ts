import { describe, expect, it } from 'vitest';
import { daysWords, digestWords, withSitting } from './sitting-words.ts';

const morning = { at: '09:00', days: [1, 2, 3, 4, 5] };

describe('sittings', () => {
  it('are named by their days as people do', () => {
    expect(daysWords([1, 2, 3, 4, 5, 6, 7])).toBe('every day');
    expect(daysWords(morning.days)).toBe('Monday to Friday');
    expect(daysWords([1, 2, 3, 4, 5, 6])).toBe('Monday to Saturday');
    expect(daysWords([6, 7])).toBe('Sat, Sun');
    expect(daysWords([7])).toBe('Sunday');
    expect(daysWords([1, 3, 6])).toBe('Mon, Wed, Sat');
  });

  it('stand in the order of the day, and none stands twice', () => {
    const evening = { at: '16:30', days: [1] };
    expect(withSitting([evening], morning)).toEqual([morning, evening]);
    expect(withSitting([morning, evening], morning)).toEqual([morning, evening]);
    const saturday = { at: '09:00', days: [6, 1] };
    expect(withSitting([morning], saturday)).toEqual([{ at: '09:00', days: [1, 2, 3, 4, 5, 6] }]);
  });
});

describe('the digest', () => {
  const digest = { kind: 'email', target: 'ada@example.com' } as const;

  it('says when it comes, and when it never will', () => {
    const words = 'One message at each sitting, to ada@example.com.';
    const night = { from: '22:00', to: '09:30' };
    const evening = { at: '16:30', days: [1] };
    expect(digestWords({ sittings: [morning], quiet: null, digest })).toBe(words);
    expect(digestWords({ sittings: [morning, evening], quiet: night, digest })).toBe(words);
    expect(digestWords({ sittings: [], quiet: null, digest })).toBe(
      `${words} There is no sitting yet, so nothing comes: add one above.`,
    );
    expect(digestWords({ sittings: [morning], quiet: night, digest })).toBe(
      `${words} All your sittings are in the quiet hours, so nothing comes.`,
    );
    const off = { kind: 'off', target: null } as const;
    expect(digestWords({ sittings: [], quiet: null, digest: off })).toBe('Off. Nothing is ever sent to you.');
  });
});
