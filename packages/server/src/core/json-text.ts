/** JSON as text: where a value must keep the very digits it was written with, it is cut out and never parsed. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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
  let depth = 0;
  let start = array.indexOf('[') + 1;
  for (let i = start; i < array.length; i++) {
    const letter = array[i];
    if (letter === '"') i = closingQuote(array, i);
    else if (letter === '{' || letter === '[') depth++;
    else if (depth > 0 && (letter === '}' || letter === ']')) depth--;
    else if (depth === 0 && (letter === ',' || letter === ']')) {
      const text = array.slice(start, i).trim();
      if (text !== '') found.push(text);
      start = i + 1;
    }
  }
  return found;
}

/** The text of one member's value in an object that is known to be valid JSON; null when it has no such member. */
export function memberText(object: string, name: string): string | null {
  let depth = 0;
  let start = -1;
  let key: string | null = null;
  for (let i = 0; i < object.length; i++) {
    const code = object.charCodeAt(i);
    if (code === QUOTE) {
      const end = closingQuote(object, i);
      if (depth === 1 && key === null) key = JSON.parse(object.slice(i, end + 1)) as string;
      i = end;
      continue;
    }
    const letter = object[i];
    if (letter === ':' && depth === 1 && start < 0) start = i + 1;
    const ends = depth === 1 && (letter === ',' || letter === '}');
    if (ends && key === name) return object.slice(start, i).trim();
    if (ends) {
      key = null;
      start = -1;
    }
    if (letter === '{' || letter === '[') depth++;
    else if (letter === '}' || letter === ']') depth--;
  }
  return null;
}
