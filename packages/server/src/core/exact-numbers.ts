import { closingQuote } from './json-text.ts';

/** Long, or far from one: any other number is written by a double as it was. */
const SUSPECT = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Valid JSON with each number that a double would round as a text of its digits instead, so that two that differ still do
 * when they are parsed; null where there is none.
 */
export function withExactNumbers(json: string): string | null {
  if (!SUSPECT.test(json)) return null;
  let exact = '';
  let from = 0;
  for (let i = 0; i < json.length; i++) {
    if (json[i] === '"') i = closingQuote(json, i);
    else if (/[-\d]/.test(json[i] ?? '')) {
      NUMBER.lastIndex = i;
      const number = NUMBER.exec(json)?.[0] ?? '';
      const value = decimal(number);
      if (value !== decimal(String(Number(number)))) {
        exact += `${json.slice(from, i)}"\\u0000${value}"`;
        from = i + number.length;
      }
      i += number.length - 1;
    }
  }
  return from === 0 ? null : exact + json.slice(from);
}

/** One spelling for each value: `1.0`, `1e0` and `10e-1` are the same number. */
function decimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.slice(0, endOfDigits(digits));
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Behind the last that is no zero. Step by step: a pattern begins anew at every zero of a number that has a million. */
function endOfDigits(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end;
}
