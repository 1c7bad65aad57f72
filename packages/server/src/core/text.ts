const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;
const SHOWS_SOMETHING = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
const FORBIDDEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;
const LINE_BREAKS = new Set([0x0a, 0x0b, 0x0c, 0x0d, 0x85, 0x2028, 0x2029]);
const FIRST_BEYOND_C1 = 0xa0;

export type Forbidden = {
  kind: 'control character' | 'line break' | 'bidirectional override';
  codePoint: number;
  /** In UTF-16 units, as `String.prototype.at` counts. */
  index: number;
};

/** Length as W8 counts it: an emoji outside the basic plane is one, not two. */
export function codePoints(text: string): number {
  return text.length - (text.match(SURROGATE_PAIR)?.length ?? 0);
}

/** Counts only when it has to: a text has at most `length` and at least `length / 2` code points. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || codePoints(text) > limit;
}

/** True when nothing would be seen: whitespace of any script, zero-width characters and fillers, or nothing (W8). */
export function isBlank(text: string): boolean {
  return !SHOWS_SOMETHING.test(text);
}

/**
 * The first character that a headline or a summary may not hold (W9), or null.
 *
 * Refused are characters that change how the text *around* them reads: controls (C0, DEL, C1), line breaks (NEL,
 * U+2028 and U+2029 among them), and embeddings, overrides and isolates (U+202A–202E, U+2066–2069), which can make
 * "approve" show as something else. Allowed are the marks LRM, RLM and ALM, which ordinary Arabic and Hebrew needs,
 * and the zero-width joiner and non-joiner, which emoji and Persian need: they act on one neighbour only, and the
 * desk makes odd ones visible.
 */
export function findForbidden(text: string): Forbidden | null {
  const index = text.search(FORBIDDEN);
  if (index < 0) return null;
  const codePoint = text.charCodeAt(index);
  return { kind: kindOf(codePoint), codePoint, index };
}

function kindOf(codePoint: number): Forbidden['kind'] {
  if (LINE_BREAKS.has(codePoint)) return 'line break';
  return codePoint < FIRST_BEYOND_C1 ? 'control character' : 'bidirectional override';
}
