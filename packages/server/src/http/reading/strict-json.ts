import { isUtf8 } from 'node:buffer';
import { closingQuote } from '../../core/json-text.ts';
import { findDuplicate, pointerTo } from './json-places.ts';

export type JsonLimits = {
  /** Deepest nesting; the body itself is level 1. Values are walked by recursion, so keep it under a few thousand. */
  maxDepth: number;
};

type Refused = { ok: false; message: string; where?: string };
export type Parsed = { ok: true; value: unknown } | Refused;

type Problem = { message: string; trail: (string | number)[] };
type Tally = { keys: number; surrogatesPossible: boolean };

const DEFAULT_LIMITS: JsonLimits = { maxDepth: 64 };
const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;
const COLON = 0x3a;
const TOO_DEEP = -1;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * JSON as W11 wants it. `JSON.parse` makes the values, because it is twice as fast as any parser written here; one cheap
 * scan of the text before it and one walk over the values after it find what it lets through. The scan counts the
 * names written and the walk counts the keys that exist: where they differ, a key was given twice, however escaped.
 */
export function parseStrict(bytes: Uint8Array, limits: JsonLimits = DEFAULT_LIMITS): Parsed {
  if (!isUtf8(bytes)) return refuse('The body is not valid UTF-8.');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) {
    return refuse('The body starts with a byte order mark. Send plain UTF-8.');
  }
  const names = countNames(text, limits.maxDepth);
  if (names === TOO_DEEP) return refuse(`The body is nested deeper than ${limits.maxDepth} levels.`);
  const parsed = parsePlain(text);
  return parsed.ok ? inspect(text, parsed.value, names) : parsed;
}

function refuse(message: string, where?: string): Refused {
  return where === undefined ? { ok: false, message } : { ok: false, message, where };
}

/** Names outside strings, or TOO_DEEP. Exact for valid JSON; for anything else `JSON.parse` refuses afterwards. */
function countNames(text: string, maxDepth: number): number {
  let names = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = closingQuote(text, i);
      if (i < 0) return names;
    } else if (code === COLON) names++;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return TOO_DEEP;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return names;
}

function parsePlain(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // The engine's own message quotes the body, which may hold secrets: only the place is taken from it.
    const place = /at position (\d+)/.exec(String(error))?.[1];
    return refuse(`The body is not valid JSON${place === undefined ? '' : ` near character ${place}`}.`);
  }
}

function inspect(text: string, value: unknown, names: number): Parsed {
  const surrogatesPossible = text.includes('\\ud') || text.includes('\\uD');
  const tally: Tally = { keys: 0, surrogatesPossible };
  const problem = walk(value, tally);
  if (problem !== null) return refuse(problem.message, pointerTo(problem.trail.reverse()));
  if (tally.keys === names) return { ok: true, value };
  return refuse('An object has the same key twice.', findDuplicate(text));
}

function walk(value: unknown, tally: Tally): Problem | null {
  if (typeof value === 'string') return checkString(value, tally);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : { message: 'A number is too large.', trail: [] };
  }
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value) ? walkArray(value, tally) : walkObject(value as Record<string, unknown>, tally);
}

function checkString(text: string, tally: Tally): Problem | null {
  if (!tally.surrogatesPossible || !LONE_SURROGATE.test(text)) return null;
  return { message: 'A string holds half of a surrogate pair, which is no character.', trail: [] };
}

function walkArray(items: readonly unknown[], tally: Tally): Problem | null {
  for (let i = 0; i < items.length; i++) {
    const problem = walk(items[i], tally);
    if (problem !== null) return within(i, problem);
  }
  return null;
}

function walkObject(object: Record<string, unknown>, tally: Tally): Problem | null {
  const keys = Object.keys(object);
  tally.keys += keys.length;
  for (const key of keys) {
    const problem = checkKey(key, tally) ?? walk(object[key], tally);
    if (problem !== null) return within(key, problem);
  }
  return null;
}

function checkKey(key: string, tally: Tally): Problem | null {
  if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
    return { message: `A key may not be named ${key}.`, trail: [] };
  }
  return tally.surrogatesPossible ? checkString(key, tally) : null;
}

/** The path is built from the inside out, and only when there is something to report. */
function within(step: string | number, problem: Problem): Problem {
  problem.trail.push(step);
  return problem;
}
