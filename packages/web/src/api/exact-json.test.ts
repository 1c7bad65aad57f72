import { describe, expect, test } from 'vitest';
import { ExactNumber, parseExact, stringifyExact, toNumber } from './exact-json.ts';

describe('exact JSON', () => {
  test.each([
    '{"a":90071992547409931234,"b":[1.10,1e-7,-0,-0.0],"c":"90071992547409931","d":{"e":"\\"9007199254740993\\""}}',
    '[0,1,-1,1.5,true,null,"x"]',
    '123456789012345678901234567890',
  ])('[D59] %s comes out as it went in', (text) => {
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  test('[D59] ordinary numbers stay numbers, the others keep their text', () => {
    const read = parseExact<Record<string, unknown>>('{"a":1.5,"b":9007199254740993,"c":"9007199254740993"}');
    expect(read.a).toBe(1.5);
    expect(read.b).toEqual(new ExactNumber('9007199254740993'));
    expect(read.c).toBe('9007199254740993');
    expect(String(read.b)).toBe('9007199254740993');
  });

  test.each(['{"a":01}', '{"a":1e999}', '[1,]', '{1:2}', '{9007199254740993:2}', '{"a":.5}', '', '{'])(
    '[D59] %s is refused as it always was',
    (text) => {
      expect(() => JSON.parse(text === '{"a":1e999}' ? 'x' : text)).toThrow();
      expect(() => parseExact(text)).toThrow();
    },
  );

  test('[D59] a number as a person types it is exact, or none', () => {
    expect(toNumber('12')).toBe(12);
    expect(toNumber('12.50')).toEqual(new ExactNumber('12.50'));
    expect(toNumber('012')).toBeNull();
    expect(toNumber('1e999')).toBeNull();
    expect(toNumber('twelve')).toBeNull();
  });
});
