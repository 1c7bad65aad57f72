import { expect, test, vi } from 'vitest';
import { textsIn, wordsOf } from './words.ts';

const words = (text: string) => [...wordsOf(text)];

test.each([
  ['plain words', 'The draft, finally: ready!', ['the', 'draft', 'finally', 'ready']],
  ['numbers and names', 'v2.4 costs 1200 € (send_at)', ['v2', '4', 'costs', '1200', 'send', 'at']],
  ['accents stay', 'Überprüfung naïve', ['überprüfung', 'naïve']],
  ['combining and composed alike', 'Über', ['über']],
  ['width and ligatures', 'ＦＵＬＬ ﬁne', ['full', 'fine']],
  ['sharp s', 'Straße STRASSE', ['strasse', 'strasse']],
  ['both sigmas', 'ΟΔΟΣ οδος', ['οδος', 'οδος']],
  ['no words at all', ' — … 🙂 ', []],
  ['words of scripts with marks', 'हिन्दी', ['हिन्दी']],
])('%s', (_, text, expected) => {
  expect(words(text)).toEqual(expected);
});

test('text without spaces is found by any part of it', () => {
  const sentence = words('iPhoneで東京タワーに行きました');
  expect(sentence).toContain('iphone');
  for (const part of ['東京', '東京タワー', 'タワー', '行', '東']) {
    for (const word of wordsOf(part, 'asked')) expect(sentence, part).toContain(word);
  }
  expect(sentence).not.toContain([...wordsOf('京都', 'asked')][0]);
});

test('what is too long to be a word is left out', () => {
  expect(words(`short ${'a'.repeat(65)} ${'b'.repeat(64)}`)).toEqual(['short', 'b'.repeat(64)]);
});

test('[D47][W29] of marks that no letter has, only some are put in order: that takes as long as there are pairs of them', () => {
  const ordering = vi.spyOn(String.prototype, 'normalize');
  const marks = '\u0301\u0316'.repeat(20_000);
  const found = words(`before ${marks}a${marks} behind`);
  expect([found.at(0), found.at(-1)]).toEqual(['before', 'behind']);
  expect(ordering.mock.contexts.length).toBeGreaterThan(1);
  for (const text of ordering.mock.contexts) expect(text).not.toMatch(/\p{M}{100}/u);
  expect(words('a\u0316\u0301')).toEqual(words('a\u0301\u0316'));
});

test('[D47] a long text has the words of all its parts, and none of its characters is cut in two', () => {
  const sentence = 'the draft is ready ';
  expect(words(sentence.repeat(3_000))).toEqual(Array.from({ length: 3_000 }, () => words(sentence)).flat());
  const unspaced = '\u{20000}'.repeat(20_000);
  expect(new Set(words(`a${unspaced}`))).toEqual(new Set(['a', '\u{20000}', '\u{20000}\u{20000}']));
});

test('everything readable in a value: strings, numbers and names, at any depth', () => {
  const value = { title: 'one', parts: [{ note: 'two', n: 3 }, null, true], deep: { er: ['four'] } };
  expect([...textsIn(value)]).toEqual([
    'title',
    'one',
    'parts',
    'note',
    'two',
    'n',
    '3',
    'deep',
    'er',
    'four',
  ]);
});
