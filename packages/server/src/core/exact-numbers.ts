import { closingQuote } from './json-text.ts';

/** Many digits or a large exponent; a double writes any other number back unchanged. */
const SUSPECT = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The same JSON with each number that a double would round replaced by a string of its digits, so that numbers that
 * differ still differ after parsing; null if there is no such number.
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

/**
 * The index after the last digit that is not zero. Not a regular expression: that would start again at every zero of
 * a number with a million digits.
 */
function endOfDigits(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end;
}
