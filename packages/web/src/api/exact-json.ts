/**
 * JSON whose numbers keep the digits they were written with. A number that JavaScript writes back the same way stays
 * a number; any other (90071992547409931, 1.10, 1e-7) becomes an `ExactNumber`, which holds its text.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/**
 * Random, so that no text an agent writes can pass for a number here. `randomUUID` is not used, because pages without
 * https do not have it.
 */
const MARK = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** Reads a number as JSON writes it, exactly; null when the text is not a number. */
export function toNumber(token: string): number | ExactNumber | null {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(token)) return null;
  const value = Number(token);
  if (!Number.isFinite(value)) return null;
  return JSON.stringify(value) === token ? value : new ExactNumber(token);
}

export function parseExact<T>(text: string): T {
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || JSON.stringify(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  const plain = JSON.parse(text) as T;
  if (marked === text) return plain;
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? exactly(value.slice(MARK.length)) : value,
  ) as T;
}

function exactly(token: string): number | ExactNumber {
  const number = toNumber(token);
  if (number === null) throw new SyntaxError(`${token} is no number`);
  return number;
}

export function stringifyExact(value: unknown, indent?: number): string {
  const text = JSON.stringify(
    value,
    (_, member: unknown) => (member instanceof ExactNumber ? MARK + member.text : member),
    indent,
  );
  return text?.replace(MARKED, (_, token: string) => token);
}
