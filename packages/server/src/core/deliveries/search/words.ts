import type { Json } from '../../canonical.ts';

// Scripts that are written without spaces between words.
const UNSPACED =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const PIECE = new RegExp(`([${UNSPACED}]+)|[^${UNSPACED}]+`, 'gu');
/** Longer words are hashes and encoded bytes, which nobody searches for in part. */
const LONGEST = 64;
const SLICE = 16 * 1024;

/** More marks on one letter than any word has letters: putting them in order takes as long as there are pairs of them. */
const TOO_MANY_MARKS = new RegExp(`(\\p{M}{${LONGEST + 1}})\\p{M}+`, 'gu');

/** Case and width make no difference: upper case first, because ß, ς and ſ only meet there. */
function fold(text: string): string {
  return text.replace(TOO_MANY_MARKS, '$1').normalize('NFKC').toUpperCase().toLowerCase();
}

/** `kept` is everything a text can be found by, `asked` what a question needs to find. */
export type Purpose = 'kept' | 'asked';

/** The words of a text, as they are looked up. */
export function* wordsOf(text: string, purpose: Purpose = 'kept'): Generator<string> {
  for (const slice of slicesOf(text)) {
    for (const [run] of fold(slice).matchAll(RUN)) {
      for (const [piece, unspaced] of run.matchAll(PIECE)) {
        if (unspaced !== undefined) yield* pairs(unspaced, purpose);
        else if (piece.length <= LONGEST) yield piece;
      }
    }
  }
}

/**
 * In slices, because folding can turn one character into eighteen: a caller that has enough words has not folded a
 * megabyte for them.
 */
function* slicesOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > SLICE) {
    const space = text.lastIndexOf(' ', from + SLICE);
    const end = space > from ? space : wholeEnd(text, from + SLICE);
    yield text.slice(from, end);
    from = end;
  }
  yield text.slice(from);
}

/** Moves the end of a slice so that it does not split a character. */
function wholeEnd(text: string, end: number): number {
  const isFirstHalf = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isFirstHalf ? end + 1 : end;
}

/**
 * Neighbouring characters stand in for words where nobody writes spaces. A dictionary would split better, but every
 * version of it splits differently, and what was kept with one must be found with the next.
 */
function* pairs(piece: string, purpose: Purpose): Generator<string> {
  const characters = [...piece];
  for (const [at, character] of characters.entries()) {
    const next = characters[at + 1];
    if (next !== undefined) yield character + next;
    if (purpose === 'kept' || characters.length === 1) yield character;
  }
}

/** Everything readable in a value: its strings, its numbers, and the names of its members. */
export function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield name;
      yield* textsIn(member);
    }
  }
}
