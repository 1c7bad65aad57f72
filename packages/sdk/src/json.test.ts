import { expect, test } from 'vitest';
import { parseJson } from './json.ts';

test('[W23] a number that a double cannot hold becomes a text, wherever it stands, and nothing else changes', () => {
  const json =
    '{"a":1187350000000000123,"b":[-9007199254740993,1e999,9007199254740992,1.5],"c":"\\\\","d":"\\"1187350000000000123","e":"","f":12}';
  expect(parseJson(json)).toEqual({
    a: '1187350000000000123',
    b: ['-9007199254740993', '1e999', 9007199254740992, 1.5],
    c: '\\',
    d: '"1187350000000000123',
    e: '',
    f: 12,
  });
});

test.each([
  0.1,
  -0,
  1e21,
  5e-324,
  1.7976931348623157e308,
  1187350000000000800,
  'a "quoted" \\ back\\slash \\" 9007199254740993',
  { 9007199254740993: ['', '\\', '"', null, true, {}] },
])('[W23] %j, as JavaScript writes it, is read as it was, beside a long number as well', (value) => {
  const [read, long] = parseJson(`[${JSON.stringify(value)},9007199254740993]`) as unknown[];
  expect([read, long]).toEqual([JSON.parse(JSON.stringify(value)), '9007199254740993']);
});

test('[W23] the length of a text does not matter', () => {
  const long = '\n"'.repeat(8_000_000);
  const read = parseJson(`{"text":${JSON.stringify(long)},"id":9007199254740993}`) as { text: string };
  expect(read).toMatchObject({ id: '9007199254740993' });
  expect(read.text === long).toBe(true);
});
