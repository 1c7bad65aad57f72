import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codePoints, findForbidden, isBlank, isLongerThan } from './text.ts';

const char = (code: number): string => String.fromCharCode(code);

describe('length', () => {
  test('[W8] characters are code points', () => {
    expect(codePoints('')).toBe(0);
    expect(codePoints('naïve 数')).toBe(7);
    expect(codePoints('😀'.repeat(120))).toBe(120);
    expect(codePoints('👩‍👧')).toBe(3);
  });

  test('[W8] the limit itself is allowed, one more is not', () => {
    for (const letter of ['a', 'é', '数', '😀']) {
      expect(isLongerThan(letter.repeat(120), 120)).toBe(false);
      expect(isLongerThan(letter.repeat(121), 120)).toBe(true);
    }
    expect(isLongerThan(`${'😀'.repeat(60)}${'a'.repeat(60)}`, 120)).toBe(false);
    expect(isLongerThan('a'.repeat(1_000_000), 120)).toBe(true);
  });

  test('[W8] both agree with iterating, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(12), (text, limit) => {
        expect(codePoints(text)).toBe([...text].length);
        expect(isLongerThan(text, limit)).toBe([...text].length > limit);
      }),
    );
  });
});

describe('blank', () => {
  const blanks = [
    '',
    ' ',
    '\t\r\n',
    '\u00a0\u3000\u2003',
    '\u200b\u200d\u2060\ufeff',
    '\u3164\u115f',
    '\u2800',
    '\u200e\u061c',
    '\u00ad',
    '\u0000',
  ];

  test.each(blanks)('[W8] %j shows nothing, so it is blank', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  test.each(['a', ' . ', '\u200b数', '😀', '👩‍👧', 'ـ', '-'])('[W8] %j is not blank', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});

describe('forbidden characters', () => {
  test('[W9] every C0 and C1 control and DEL is refused', () => {
    const codes = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, i) => 0x80 + i)];
    for (const code of codes) {
      expect(findForbidden(`ab${char(code)}c`)).toMatchObject({ codePoint: code, index: 2 });
    }
  });

  test('[W9] a line break is called a line break', () => {
    for (const code of [0x0a, 0x0b, 0x0c, 0x0d, 0x85, 0x2028, 0x2029]) {
      expect(findForbidden(char(code))?.kind).toBe('line break');
    }
    expect(findForbidden('a\tb')?.kind).toBe('control character');
    expect(findForbidden('a\u009bb')?.kind).toBe('control character');
  });

  test('[W9] embeddings, overrides and isolates are refused', () => {
    for (const code of [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]) {
      expect(findForbidden(`x${char(code)}`)).toEqual({
        kind: 'bidirectional override',
        codePoint: code,
        index: 1,
      });
    }
  });

  test('[W9] the first one is reported, counted in UTF-16 units', () => {
    expect(findForbidden('😀\u202e\n')).toMatchObject({ kind: 'bidirectional override', index: 2 });
  });

  const fine = [
    'Send 214 invoices – total €184,223.50 (no-break\u00a0space)',
    'مرحبا\u200f (LRM \u200e, ALM \u061c)',
    'שלום \u200fעולם',
    'می\u200cخواهم',
    '👩‍👧 👍🏽 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
    '请审核三月份的发票',
    '<b>"quotes" & \\ tricks</b>',
  ];

  test.each(fine)('[W9] %j is kept as sent', (text) => {
    expect(findForbidden(text)).toBeNull();
  });
});
