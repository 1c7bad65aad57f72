import type { Json } from './canonical.ts';
import { memberText } from './json-text.ts';

let collected: string[] | null = null;

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
    return MARK;
  }

  /** For a place in a value that is only ever serialised. */
  get json(): Json {
    return this as unknown as Json;
  }
}

const MARK = 'exact json';

/** Like `JSON.stringify`, but inserts the exact texts unchanged. */
export function exactText(value: unknown): string {
  const { text, pieces } = marked(value);
  if (pieces.length === 0) return text;
  const between = text.split(`"${MARK}"`);
  // Somebody has written our mark: more of them than we have put there.
  if (between.length !== pieces.length + 1) return pieceByPiece(value) ?? 'null';
  return between.map((part, index) => part + (pieces[index] ?? '')).join('');
}

function marked(value: unknown): { text: string; pieces: string[] } {
  const pieces: string[] = [];
  collected = pieces;
  try {
    return { text: JSON.stringify(value), pieces };
  } finally {
    collected = null;
  }
}

/** The same without marks, and slower. Undefined for what JSON leaves out. */
function pieceByPiece(value: unknown): string | undefined {
  if (value instanceof ExactJson) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => pieceByPiece(item) ?? 'null').join(',')}]`;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = pieceByPiece(member);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(',')}}`;
}
