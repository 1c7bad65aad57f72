import { ExactNumber, isNumber, stringifyExact, toNumber } from '../api/exact-json.ts';
import type { Json, JsonObject } from '../api/types.ts';

export type Change = { path: string; before: Json | undefined; after: Json | undefined };

const isBranch = (value: Json | undefined): value is JsonObject | Json[] =>
  typeof value === 'object' && value !== null && !isNumber(value);

/** The differences between two JSON values, leaf by leaf, with their types. */
export function jsonChanges(before: Json | undefined, after: Json | undefined, path = ''): Change[] {
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) =>
      jsonChanges(child(before, key), child(after, key), join(path, key, Array.isArray(before))),
    );
  }
  return same(before, after) ? [] : [{ path, before, after }];
}

function child(value: JsonObject | Json[], key: string): Json | undefined {
  return Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}

function join(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${Number(key) + 1}]`;
  return path === '' ? key : `${path}.${key}`;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a instanceof ExactNumber || b instanceof ExactNumber) return stringifyExact(a) === stringifyExact(b);
  return Object.is(a, b) || (isBranch(a) && isBranch(b) && stringifyExact(a) === stringifyExact(b));
}

function typeWord(value: Json | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isNumber(value)) return 'a number';
  return (
    { string: 'text', boolean: 'yes or no', object: 'an object' }[typeof value as 'string'] ?? 'something'
  );
}

/** A warning when a leaf has changed its type, because the agent's program may fail on it. */
export function typeWarning({ path, before, after }: Change): string | null {
  if (before === undefined || after === undefined || typeWord(before) === typeWord(after)) return null;
  return `${path === '' ? 'It' : path} was ${typeWord(before)} and is now ${typeWord(after)}.`;
}

/** The same value with one leaf replaced; everything else keeps its identity and its order. */
export function withLeaf(value: Json, path: readonly string[], leaf: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? withLeaf(item, rest, leaf) : item));
  if (!isBranch(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === key ? withLeaf(item, rest, leaf) : item]),
  );
}

/**
 * Reads a number as people write it, with all its digits; null when it is not one, so that a number never turns into
 * text. What JSON would write differently (`.5`, `1.`, `007`) is read as people mean it.
 */
export function parseNumber(text: string): number | ExactNumber | null {
  const trimmed = text.trim();
  if (!/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return null;
  const value = Number(trimmed);
  return toNumber(trimmed) ?? (Number.isFinite(value) ? value : null);
}
