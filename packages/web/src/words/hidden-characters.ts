/**
 * Characters that are invisible, or that reverse the order of others: zero-width characters, bidirectional controls,
 * tags, soft hyphens, odd spaces and control characters. Line breaks and tabs are ordinary.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must be shown
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are meant
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\u{1d173}-\u{1d17a}]/gu;

export type Piece = { text: string; hidden: boolean };

/** A joiner between two pictographs makes one emoji; anywhere else it is a hidden character. */
function isEmojiJoiner(text: string, index: number): boolean {
  if (text[index] !== '\u200d') return false;
  return (
    /\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?$/u.test(text.slice(Math.max(0, index - 6), index)) &&
    /^\p{Extended_Pictographic}/u.test(text.slice(index + 1, index + 3))
  );
}

/** Splits a text into pieces that can be shown as they are, and the names of hidden characters. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (isEmojiJoiner(text, match.index)) continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index), hidden: false });
    found.push({ text: codePoint(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from), hidden: false });
  return found;
}

export const hasHidden = (text: string) => pieces(text).some((piece) => piece.hidden);

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
