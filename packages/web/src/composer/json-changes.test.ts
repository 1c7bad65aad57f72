import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../api/exact-json.ts';
import type { Json } from '../api/types.ts';
import { jsonChanges, parseNumber, typeWarning, withLeaf } from './json-changes.ts';

describe('editing JSON', () => {
  const before = { amount: 1480, paid: false, to: { name: 'Ada', tags: ['a', 'b'] }, note: null };

  it('[D18] keeps every type but the one leaf that was changed', () => {
    const after = withLeaf(before, ['to', 'tags', '1'], 'c');
    expect(after).toEqual({ amount: 1480, paid: false, to: { name: 'Ada', tags: ['a', 'c'] }, note: null });
    expect(Object.keys(after as object)).toEqual(Object.keys(before));
    expect(before.to.tags).toEqual(['a', 'b']);
  });

  it('says what changed, leaf by leaf', () => {
    expect(jsonChanges(before, before)).toEqual([]);
    expect(jsonChanges(before, withLeaf(before, ['amount'], 1500))).toEqual([
      { path: 'amount', before: 1480, after: 1500 },
    ]);
    expect(jsonChanges(before, withLeaf(before, ['to', 'tags', '0'], 'x'))[0]?.path).toBe('to.tags[1]');
    expect(jsonChanges({ a: 1 }, { b: 1 })).toEqual([
      { path: 'a', before: 1, after: undefined },
      { path: 'b', before: undefined, after: 1 },
    ]);
  });

  it('tells 1 from "1", null from missing, and an empty list from an empty object', () => {
    expect(jsonChanges({ a: 1 }, { a: '1' }).map(typeWarning)).toEqual(['a was a number and is now text.']);
    expect(jsonChanges({ a: null }, {})).toHaveLength(1);
    expect(jsonChanges({ a: [] }, { a: {} })).toHaveLength(1);
    expect(jsonChanges({ a: 0 }, { a: -0 })).toHaveLength(1);
  });

  it('[W29] reads as many digits as an agent may write in one go, and not again for each of them', () => {
    expect(parseNumber(`${'1'.repeat(100_000)}x`)).toBeNull();
  }, 1000);

  it('never turns a number into text', () => {
    expect(parseNumber('1321.5')).toBe(1321.5);
    expect(String(parseNumber(' -3e2 '))).toBe('-3e2');
    expect([parseNumber('.5'), parseNumber('1.')]).toEqual([0.5, 1]);
    for (const text of ['', 'ten', '1,5', '0x10', 'NaN', 'Infinity', '1e999', '--1'])
      expect(parseNumber(text)).toBeNull();
  });

  it('[D59] sees a digit that a double would not, and keeps it through an edit elsewhere', () => {
    const before = parseExact<Json>('{"id":9007199254740993,"n":1}');
    const after = withLeaf(before, ['n'], 2);
    expect(stringifyExact(after)).toBe('{"id":9007199254740993,"n":2}');
    expect(jsonChanges(before, after).map(({ path }) => path)).toEqual(['n']);
    const other = parseExact<Json>('{"id":9007199254740992,"n":1}');
    expect(jsonChanges(before, other)).toHaveLength(1);
    expect(jsonChanges(before, other).map(typeWarning)).toEqual([null]);
  });

  it('does not stumble over keys of the prototype', () => {
    expect(jsonChanges({ toString: 1 }, {})).toEqual([{ path: 'toString', before: 1, after: undefined }]);
  });
});
