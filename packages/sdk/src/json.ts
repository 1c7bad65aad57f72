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

function withAllDigits(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${token}"`,
  );
}

/** Fractions are doubles everywhere; only an integer may be more than that. */
function isExact(number: string): boolean {
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
