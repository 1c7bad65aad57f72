import type { Json } from './canonical.ts';
import { memberText } from './json-text.ts';

let collected: string[] | null = null;
let mark = '';

/**
 * JSON that is passed on as it was written: parsing would round what a number cannot hold (D59). `exactText` puts it in
 * as it is; a plain `JSON.stringify` finds the parsed value.
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

  /** As a part of a value that is only ever written out. */
  get json(): Json {
    return this as unknown as Json;
  }
}

const SHORT = 'exact json';

/** As `JSON.stringify`, with exact pieces put in as they are. */
export function exactText(value: unknown): string {
  const { text, pieces } = marked(value, SHORT);
  if (pieces.length === 0) return text;
  const put = putIn(text, pieces, SHORT);
  if (put !== null) return put;
  // Somebody has written our mark. None of their texts is as long as all of them together.
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

/** Null when the mark stands in more places than we have put it. */
function putIn(text: string, pieces: readonly string[], by: string): string | null {
  const between = text.split(`"${by}"`);
  if (between.length !== pieces.length + 1) return null;
  return between.map((part, index) => part + (pieces[index] ?? '')).join('');
}
