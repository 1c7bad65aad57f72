/** JSON as text: where a value must keep the very digits it was written with, it is cut out and never parsed. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** The index of the quote that ends the string opened at `open`, or -1. */
export function closingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at > 0 && text.charCodeAt(at - 1) === BACKSLASH) {
    let before = at - 2;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // An even number of backslashes escape each other and leave the quote alone.
    if ((at - before) % 2 === 1) return at;
    at = text.indexOf('"', at + 1);
  }
  return at;
}

/** The texts of the elements of an array that is known to be valid JSON. */
export function elementTexts(array: string): string[] {
  const found: string[] = [];
  for (let start = array.indexOf('[') + 1; start < array.length; ) {
    const end = valueEnd(array, start);
    const text = array.slice(start, end).trim();
    // Nothing stands in an empty array, nor after its end.
    if (text !== '') found.push(text);
    start = end + 1;
  }
  return found;
}

/** The text of one member's value in valid JSON; null when that is no object, or has no such member. */
export function memberText(object: string, name: string): string | null {
  const start = memberStart(object, name);
  return start < 0 ? null : object.slice(start, valueEnd(object, start)).trim();
}

/** The texts of all members' values in valid JSON, by their names; none when that is no object. */
export function memberTexts(object: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { name, start } of membersIn(object))
    texts.set(name, object.slice(start, valueEnd(object, start)).trim());
  return texts;
}

/** The index after the colon of a member in valid JSON; -1 when that is no object, or has no such member. */
export function memberStart(object: string, wanted: string): number {
  for (const { name, start } of membersIn(object)) if (name === wanted) return start;
  return -1;
}

/** One after the other, each with the index after its colon. */
function* membersIn(object: string): Generator<{ name: string; start: number }> {
  if (!object.trimStart().startsWith('{')) return;
  for (let open = object.indexOf('"'); open > 0; ) {
    const close = closingQuote(object, open);
    const start = object.indexOf(':', close) + 1;
    yield { name: JSON.parse(object.slice(open, close + 1)), start };
    open = object.indexOf('"', valueEnd(object, start));
  }
}

/** The index of the comma or bracket after the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (opens(code)) depth++;
    else if (depth > 0 && closes(code)) depth--;
    else if (depth === 0 && (code === COMMA || closes(code))) return at;
  }
  return text.length;
}

function opens(code: number): boolean {
  return code === 0x7b || code === 0x5b;
}

function closes(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}
