/** Formatting a longer text would block the page for seconds. */
const MOST = 100_000;
const BEGINNING = 40_000;

/**
 * Marks cost more than letters: an open one is compared with all before it, and each list item with its list. Ten
 * thousand, which is little to send, stop the page for minutes.
 */
const MOST_MARKS = 2_000;
const MARK = /[>~*_`[\]]|^[ \t]*(?:[+-]|\d{1,9}[.)])[ \t]/gm;

/** Quotations and lists within each other; the renderer calls itself for each, and fails when there are too many. */
const DEEPEST = 100;
const TOO_DEEP = new RegExp(`^(?:[ \\t]*(?:>|(?:[*+-]|\\d{1,9}[.)])[ \\t])){${DEEPEST}}`, 'm');

/** How much of an agent's markdown is formatted; what follows is shown as written, on request. */
export function endOfFormatted(text: string): number {
  const most = Math.min(firstMarkTooMany(text), firstTooDeep(text), text.length > MOST ? BEGINNING : MOST);
  return most >= text.length ? text.length : cutNear(text, most);
}

function firstMarkTooMany(text: string): number {
  let marks = 0;
  for (const { index } of text.slice(0, MOST).matchAll(MARK)) if (++marks > MOST_MARKS) return index;
  return Number.POSITIVE_INFINITY;
}

function firstTooDeep(text: string): number {
  const at = text.slice(0, MOST).search(TOO_DEEP);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

/** At the end of a paragraph or of a line, if there is one nearby. */
function cutNear(text: string, most: number): number {
  const near = (mark: string) => text.lastIndexOf(mark, most - 1);
  const end = Math.max(near('\n\n'), near('\n'));
  return end > most / 2 ? end + 1 : most;
}
