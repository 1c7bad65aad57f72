import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonLimits, type Parsed, parseStrict } from './strict-json.ts';

const parse = (text: string, limits?: JsonLimits): Parsed => parseStrict(Buffer.from(text), limits);
const nested = (levels: number, open = '[', close = ']'): string =>
  open.repeat(levels) + close.repeat(levels);

function refusal(text: string | Uint8Array): string {
  const result = typeof text === 'string' ? parse(text) : parseStrict(text);
  if (result.ok) throw new Error('accepted');
  return result.where === undefined ? result.message : `${result.message} ${result.where}`;
}

describe('what is accepted', () => {
  test('[W11] ordinary JSON gives ordinary objects', () => {
    const result = parse('{"a":[1,-0.5e3,true,false,null,"\\n\\u00e9 é 😀"],"b":{}}');
    expect(result).toEqual({ ok: true, value: { a: [1, -500, true, false, null, '\n\u00e9 é 😀'], b: {} } });
    if (result.ok) expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
  });

  test('[W11] a plain Uint8Array that is a window into a larger buffer is read from its own bytes', () => {
    const bytes = new TextEncoder().encode('xx{"a":1}yy').subarray(2, 9);
    expect(parseStrict(bytes)).toEqual({ ok: true, value: { a: 1 } });
  });

  test('[W11] the same key in two objects, names of methods, and colons in strings are not duplicates', () => {
    const value = {
      a: { id: 1 },
      b: [{ id: 1 }, { id: 2 }],
      toString: 'x:y',
      hasOwnProperty: ':::"\\',
      '': 0,
    };
    expect(parse(JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test('[W11] an escaped pair is one character', () => {
    expect(parse('{"\\ud83d\\ude00":"\\uD83D\\uDE00 \\\\ud800"}')).toEqual({
      ok: true,
      value: { '😀': '😀 \\ud800' },
    });
  });

  test('[W11] a number too small to tell from zero, and 64 levels, are fine', () => {
    expect(parse('1e-400')).toEqual({ ok: true, value: 0 });
    expect(parse(nested(64)).ok).toBe(true);
    expect(parse(`{"a":${nested(63)}}`).ok).toBe(true);
  });
});

describe('nesting', () => {
  test('[W11] the 65th level is refused, for arrays, objects and both', () => {
    const tooDeep = 'The body is nested deeper than 64 levels.';
    expect(refusal(nested(65))).toBe(tooDeep);
    expect(refusal(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toBe(tooDeep);
    expect(refusal(`{"a":${nested(64)}}`)).toBe(tooDeep);
  });

  test('[W11] brackets inside strings are not levels', () => {
    expect(parse(JSON.stringify({ a: '[{'.repeat(500), '"[\\"': 1 })).ok).toBe(true);
  });

  test('[W11] a hundred thousand levels are refused and crash nothing, closed or not', () => {
    expect(parse(nested(100_000)).ok).toBe(false);
    expect(parse('['.repeat(1_000_000)).ok).toBe(false);
    expect(parse('{"a":'.repeat(100_000)).ok).toBe(false);
  });

  test('[W11] another door may set another depth', () => {
    expect(parse(nested(3), { maxDepth: 2 }).ok).toBe(false);
    expect(parse(nested(500), { maxDepth: 500 }).ok).toBe(true);
  });
});

describe('keys', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('[W11] the key %s is refused at any depth', (name) => {
    expect(refusal(`{"${name}":1}`)).toBe(`A key may not be named ${name}. /${name}`);
    expect(refusal(`{"a":[0,{"b":{"${name}":{}}}]}`)).toContain(`/a/1/b/${name}`);
  });

  test('[W11] a reserved key does not hide behind escapes, nor does it change any prototype', () => {
    expect(parse('{"\\u005f_proto__":{"polluted":true}}').ok).toBe(false);
    expect(parse('{"\\u0063onstructor":1}').ok).toBe(false);
    expect({}).not.toHaveProperty('polluted');
  });

  test('[W11] a reserved word as a value is a word', () => {
    expect(parse('["__proto__","constructor"]').ok).toBe(true);
  });

  test('[W11] a key given twice is refused, and the place is named', () => {
    expect(refusal('{"a":1,"a":1}')).toBe('An object has the same key twice. /a');
    expect(refusal('{"x":[{"k":1},{"k":{"q/r~":1 , "q/r~" : 2}}]}')).toContain('/x/1/k/q~1r~0');
  });

  test('[W11] two spellings of one key are one key', () => {
    expect(refusal('{"a":1,"\\u0061":2}')).toContain('/a');
    expect(refusal('{"\\"":1,"\\u0022":2}')).toContain('/"');
  });
});

describe('characters and numbers', () => {
  test('[W11] half a surrogate pair is refused in values and keys, in either case of the escape', () => {
    for (const half of ['\\ud800', '\\uDC00', '\\udc00\\ud800', 'x\\uD83Dx', '\\ud83d\\\\ude00']) {
      expect(refusal(`{"a":["${half}"]}`)).toContain('surrogate pair, which is no character. /a/0');
      expect(refusal(`{"${half}":1}`)).toContain('surrogate');
    }
  });

  test('[W11] raw halves and other invalid UTF-8 are refused', () => {
    const bodies = [
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xe2, 0x82, 0x22],
      [0xff, 0xfe, 0x31, 0x00],
    ];
    for (const body of bodies) expect(refusal(Uint8Array.from(body))).toBe('The body is not valid UTF-8.');
  });

  test('[W11] a byte order mark is refused, and is welcome inside a string', () => {
    expect(refusal('\ufeff{}')).toContain('byte order mark');
    expect(parse('"\ufeff"').ok).toBe(true);
  });

  test('[W11] a number that overflows is refused wherever it stands', () => {
    expect(refusal('1e400')).toContain('too large');
    expect(refusal('{"a":[1,-1e999]}')).toContain('/a/1');
  });
});

describe('what is no JSON', () => {
  const samples = [
    '',
    ' ',
    '{',
    '{"a":1}x',
    '{} {}',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    '01',
    '1.',
    '.5',
    '+1',
    '0x1',
  ];
  const more = [
    'NaN',
    'Infinity',
    'undefined',
    '"\t"',
    '"\\x41"',
    '"\\u12"',
    '"a',
    '// c\n1',
    '[1 2]',
    '"\\"',
    '\u00a01',
  ];

  test.each([...samples, ...more])('[W7] %j is refused', (text) => {
    expect(parse(text).ok).toBe(false);
  });

  test('[W11] the message says where and never quotes the body', () => {
    for (const text of ['{"token":canary}', 'canary', '{"canary":1 "b":2}', '{"a":"canary']) {
      expect(refusal(text)).toMatch(/^The body is not valid JSON( near character \d+)?\.$/);
    }
  });

  test('[W11] a key too long to repeat is cut in the message', () => {
    expect(refusal(`{"${'k'.repeat(1_000)}":1e400}`).length).toBeLessThan(200);
  });
});

/** What JSON.parse says, with a marker for "refuses". */
function plainly(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

describe('against JSON.parse', () => {
  const spaced = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', '\r\n '));

  test('[W11] what both accept is equal', () => {
    fc.assert(
      fc.property(spaced, ([value, space]) => {
        const text = JSON.stringify(value, null, space);
        const result = parse(text);
        if (result.ok) expect(result.value).toEqual(JSON.parse(text));
        else expect(result.message).toMatch(/surrogate|may not be named/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('[W11] mutated JSON: refused by JSON.parse means refused here, and nothing ever throws', () => {
    const scraps = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '\\u',
      '0',
      'e9',
      ' ',
      '\u0000',
      '\ud800',
      'null',
    );
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), scraps), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(spaced, edits, ([value, space], changes) => {
        let text = JSON.stringify(value, null, space);
        for (const [at, gone, scrap] of changes) {
          const cut = at % (text.length + 1);
          text = text.slice(0, cut) + scrap + text.slice(cut + gone);
        }
        text = Buffer.from(text).toString(); // what the wire would carry: a lone half becomes U+FFFD
        const expected = plainly(text);
        const result = parse(text);
        if (result.ok) expect(expected).toEqual({ value: result.value });
        else if (expected !== null) expect(result.message).not.toContain('not valid JSON');
      }),
      { numRuns: 5_000 },
    );
  });

  test('[W11] random bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => typeof parseStrict(bytes).ok === 'boolean'),
    );
  });

  test('[W11] any object written with a repeated key is refused', () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.string(), fc.jsonValue()), {
      minLength: 1,
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(pairs, fc.nat(), fc.boolean(), (members, pick, escaped) => {
        const [key = ''] = members[pick % members.length] ?? [];
        const units = Array.from({ length: key.length }, (_, i) =>
          key.charCodeAt(i).toString(16).padStart(4, '0'),
        );
        const again = escaped ? `"${units.map((unit) => `\\u${unit}`).join('')}"` : JSON.stringify(key);
        const written = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
        expect(parse(`{${[...written, `${again}:0`].join(',')}}`).ok).toBe(false);
      }),
    );
  });
});
