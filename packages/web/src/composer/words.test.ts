import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { words } from './words.ts';

beforeEach(() => void vi.stubGlobal('navigator', { onLine: true }));

const at = (second: number) => new Date(Date.UTC(2026, 10, 19, 9, 0, second)).toISOString();
const draft = (feedback: string, second: number) =>
  ({ mode: 'approved', feedback, edited_content: null, saved_at: at(second) }) as const;

afterEach(() => words.clear());

describe('words from another browser', () => {
  it('[D37] are taken over while nothing was written here, and only when they are newer', () => {
    words.adopt('one', draft('Fine', 10));
    words.adopt('one', draft('Fine, but shorter', 20));
    expect(words.get('one').feedback).toBe('Fine, but shorter');
    words.adopt('one', draft('Fine', 10));
    expect(words.get('one').feedback).toBe('Fine, but shorter');
    expect(words.timesTaken('one')).toBe(1);
  });

  it('[D37] do not take the place of what was not saved yet', () => {
    words.adopt('one', draft('Fine', 10));
    words.write('one', { feedback: 'Fine!' });
    words.adopt('one', draft('Fine! And more', 20));
    expect(words.get('one').feedback).toBe('Fine!');
  });

  it('[D37] are taken over when they go on from what was written and saved here, and no word is lost', async () => {
    vi.stubGlobal('fetch', async () => new Response(null, { status: 204 }));
    const saved = async (feedback: string) => {
      words.write('one', { feedback });
      await words.flush();
      expect(words.keeping('one')).toBe('kept');
    };
    const later = (feedback: string) => ({
      ...draft(feedback, 0),
      saved_at: new Date(Date.now() + 60_000).toISOString(),
    });
    await saved('Fine');
    words.adopt('one', draft('Fine, an older reading', 10));
    expect(words.get('one').feedback).toBe('Fine');
    words.adopt('one', later('Something else'));
    expect(words.get('one').feedback).toBe('Fine');
    words.adopt('one', later('Fine, but shorter'));
    expect(words.get('one').feedback).toBe('Fine, but shorter');
  });
});
