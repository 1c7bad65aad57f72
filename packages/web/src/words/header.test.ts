import { describe, expect, it } from 'vitest';
import { lastWords, needWords, restWords } from './header.ts';

const none = { needs_you: 0, alerts: 0, new_agents: 0, to_read: 0, snoozed: 0 };

describe('the header in words', () => {
  it('says how many things need the person, and about how long they take', () => {
    expect(needWords({ ...none, needs_you: 4 }, 9)).toBe('Four things need you. About nine minutes.');
    expect(needWords({ ...none, needs_you: 200 }, 440)).toBe('200 things need you. About seven hours.');
    expect(needWords({ ...none, needs_you: 1 }, 1)).toBe('One thing needs you. About a minute.');
    expect(needWords({ ...none, needs_you: 13 }, 26)).toBe('13 things need you. About 26 minutes.');
    expect(needWords({ ...none, needs_you: 1000 }, 2000)).toBe(
      'More than a thousand things need you. About 33 hours.',
    );
  });

  it('says nothing about time when nothing needs the person', () => {
    expect(needWords({ ...none, needs_you: 0 }, 0)).toBe('Nothing needs you.');
  });

  it('does not say that nothing needs the person when a new agent has delivered', () => {
    const one = { ...none, new_agents: 1, alerts: 1 };
    expect(needWords(one, 3)).toBe('A new agent has delivered something. About three minutes.');
    expect(restWords(one)).toBe('One alert.');
    expect(needWords({ ...none, new_agents: 3 }, 9)).toBe(
      'New agents have delivered three things. About nine minutes.',
    );
  });

  it('says so when the minutes are also for what new agents have sent', () => {
    expect(needWords({ ...none, needs_you: 3, new_agents: 12 }, 26)).toBe(
      'Three things need you. About 26 minutes with new agents.',
    );
  });

  it('says when somebody decided last, as the end of a sentence', () => {
    const now = Date.parse('2026-11-19T16:00:00Z');
    expect(lastWords(null, now)).toBe('');
    expect(lastWords('2026-11-18T09:05:00Z', now)).toBe('The last decision was yesterday at 09:05.');
  });

  it('names what else lies there, and only that', () => {
    expect(restWords(none)).toBe('');
    expect(restWords({ ...none, alerts: 1, to_read: 3 })).toBe('One alert and three to read.');
    expect(restWords({ ...none, needs_you: 1, alerts: 2, new_agents: 1, snoozed: 1 })).toBe(
      'Two alerts, one from a new agent and one snoozed.',
    );
  });
});
