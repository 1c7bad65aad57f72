import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { elementTexts, memberText } from './json-text.ts';

describe('a member of JSON text', () => {
  test.each([
    ['{"a": 90071992547409931 ,"b":1}', 'a', '90071992547409931'],
    ['{"a":{"b":[1,{"b":2}]},"b":1.0}', 'b', '1.0'],
    ['{ "x" : "a,}\\"b" , "b" : [ 1 , 2 ] }', 'b', '[ 1 , 2 ]'],
    ['{"\\u0062":1e400}', 'b', '1e400'],
    ['{"a":"b","b":null}', 'b', 'null'],
    ['{"a":{"b":1}}', 'b', null],
    ['{}', 'b', null],
  ])('[D59] of %s is cut out as it was written', (text, name, value) => {
    expect(memberText(text, name)).toBe(value);
  });

  test('[D59] is what a parser finds there, for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        for (const [name, value] of Object.entries(object)) {
          expect(JSON.parse(memberText(text, name) ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
        }
      }),
    );
  });
});

describe('the elements of an array of JSON text', () => {
  test.each([
    ['[]', []],
    ['[ 1.0 , "a,]\\"" ]', ['1.0', '"a,]\\""']],
    ['[{"a":[1,2]},[3,[4]],10000000000000000000001]', ['{"a":[1,2]}', '[3,[4]]', '10000000000000000000001']],
  ])('[D59] of %s are cut out as they were written', (text, elements) => {
    expect(elementTexts(text)).toEqual(elements);
  });

  test('[D59] are what a parser finds there, for any array', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.nat(3), (array, indent) => {
        const found = elementTexts(JSON.stringify(array, null, indent)).map((text) => JSON.parse(text));
        expect(found).toEqual(JSON.parse(JSON.stringify(array)));
      }),
    );
  });
});
