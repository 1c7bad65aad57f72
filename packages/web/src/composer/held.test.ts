import { afterEach, expect, it } from 'vitest';
import { foot, undoneFirst } from './held.ts';

afterEach(() => foot.clear());

const hold = (id: string) =>
  foot.hold({ id, headline: id, verdict: 'approved', endsAt: Number.POSITIVE_INFINITY });
const said = () => undoneFirst(foot.get())?.text;
const undo = () => {};

it('[D15] the key for undoing means what was done last, whatever was taken back since', () => {
  hold('first');
  hold('second');
  foot.say('Out of sight.', { undo });
  expect(said()).toBe('Out of sight.');
  foot.release('second'); // by its button
  expect(said()).toBe('Out of sight.');
  hold('second');
  expect(said()).toBeUndefined();
  foot.leave('second', true);
  expect(said()).toBe('Out of sight.');
});

it('[D15] it means no notice that cannot be undone, and no snooze from before a decision that the server tells of', () => {
  foot.say('Out of sight.', { undo });
  foot.say('It had already gone out.');
  expect(said()).toBe('Out of sight.');
  const effect_at = new Date(Date.now() + 60_000).toISOString();
  const theirs = { delivery_id: 'elsewhere', headline: 'x', status: 'approved', effect_at } as const;
  foot.adopt([theirs]);
  expect(said()).toBeUndefined();
  foot.say('Out of sight again.', { undo });
  foot.adopt([theirs]);
  expect(said()).toBe('Out of sight again.');
});
