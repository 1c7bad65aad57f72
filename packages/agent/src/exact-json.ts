import { isExactNumber } from '@lanternroom/sdk/wake';

/** Reading JSON without changing it: `JSON.parse` drops repeated names and rounds long numbers, and nobody would see it. */

/** The value, or undefined when the text is not JSON or means more than a value can hold. */
export function parseExact(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return repeatedName(text) === null && inexactNumber(text) === null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A name that one object contains twice. We would take the last value and others may take the first: the person would
 * approve something else than the tool gets. Expects valid JSON.
 */
export function repeatedName(json: string): string | null {
  const open: Set<string>[] = [];
  let text = '';
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}:]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (token !== ':') text = token;
    else {
      const name: string = JSON.parse(text);
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return null;
}

/** A number that a double cannot hold: the person would approve another one than the tool gets. */
export function inexactNumber(json: string): string | null {
  const numbers = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.find((text) => !isExactNumber(text))?.slice(0, 40) ?? null;
}
