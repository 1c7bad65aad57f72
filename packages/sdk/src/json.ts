/** Reading what others wrote: nothing here throws, and nothing is trusted before it was checked. */

/**
 * JSON, or undefined. A number that a double cannot hold becomes a text with all its digits: JavaScript would put another
 * number in its place, and a person who wrote an account's number means that account.
 */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return MAY_BE_INEXACT.test(text) ? JSON.parse(withAllDigits(text)) : value;
  } catch {
    return undefined;
  }
}

/** Quick, because nearly every reply ends here. */
const MAY_BE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;

/** Expects valid JSON. Strings are stepped over, because a pattern for a whole one gives up after some millions of characters. */
function withAllDigits(json: string): string {
  const parts: string[] = [];
  let from = 0;
  const token = /"|-?\d[\d.eE+-]*/g;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [text] = found;
    if (text === '"') token.lastIndex = endOfString(json, found.index);
    else if (!isExactNumber(text)) {
      parts.push(json.slice(from, found.index), `"${text}"`);
      from = token.lastIndex;
    }
  }
  return parts.join('') + json.slice(from);
}

/** Behind the quote that closes the string. */
function endOfString(json: string, start: number): number {
  let end = start;
  let slashes: number;
  do {
    end = json.indexOf('"', end + 1);
    slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes++;
  } while (slashes % 2 === 1);
  return end + 1;
}

/**
 * Whether JavaScript keeps a number of a JSON text as it is written there. Fractions are doubles everywhere; only an
 * integer may be more than that.
 *
 * @example
 * isExactNumber('9007199254740993'); // false: it would become 9007199254740992
 */
export function isExactNumber(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  if (!/^-?\d{16,}$/.test(number)) return true;
  // What JavaScript itself wrote has the fewest digits that lead back to the same number.
  return BigInt(number) === BigInt(value) || number === String(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
