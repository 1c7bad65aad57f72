import type { Json } from './canonical.ts';
import { memberText } from './json-text.ts';

let collected: string[] | null = null;
let mark = '';

/**
 * JSON that is passed on exactly as it was written: parsing would round a number that a double cannot hold (D59).
 * `exactText` inserts the text unchanged; a plain `JSON.stringify` writes the parsed value.
 */
export class ExactJson {
  readonly text: string;

  constructor(text: string | null) {
    this.text = text ?? 'null';
  }

  static member(object: string, name: string): ExactJson {
    return new ExactJson(memberText(object, name));
  }

  toJSON(): unknown {
    if (collected === null) return JSON.parse(this.text);
    collected.push(this.text);
    return mark;
  }

  /** For a place in a value that is only ever serialised. */
  get json(): Json {
    return this as unknown as Json;
  }
}

const SHORT = 'exact json';

/** Like `JSON.stringify`, but inserts the exact texts unchanged. */
export function exactText(value: unknown): string {
  const { text, pieces } = marked(value, SHORT);
  if (pieces.length === 0) return text;
  const put = putIn(text, pieces, SHORT);
  if (put !== null) return put;
  // The input contains our placeholder. None of its strings can contain one that is as long as the whole text.
  const long = '-'.repeat(text.length);
  return putIn(marked(value, long).text, pieces, long) ?? JSON.stringify(value);
}

function marked(value: unknown, by: string): { text: string; pieces: string[] } {
  const pieces: string[] = [];
  [collected, mark] = [pieces, by];
  try {
    return { text: JSON.stringify(value), pieces };
  } finally {
    collected = null;
  }
}

/** Null when the placeholder occurs more often than we have put it in. */
function putIn(text: string, pieces: readonly string[], by: string): string | null {
  const between = text.split(`"${by}"`);
  if (between.length !== pieces.length + 1) return null;
  return between.map((part, index) => part + (pieces[index] ?? '')).join('');
}
