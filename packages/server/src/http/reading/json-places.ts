import { closingQuote } from '../../core/json-text.ts';

const QUOTE = 0x22;
const LONGEST_STEP = 64;

/** An RFC 6901 pointer for people: long names are cut, lone surrogates replaced, so that it can always be written. */
export function pointerTo(trail: readonly (string | number)[]): string {
  return trail.map((step) => `/${readable(String(step))}`).join('');
}

function readable(step: string): string {
  const cut = step.length > LONGEST_STEP ? `${step.slice(0, LONGEST_STEP)}…` : step;
  return cut
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('~', '~0')
    .replaceAll('/', '~1');
}

type Level = { seen: Set<string>; step: string | number };

/** Where valid JSON gives a key twice. Runs only for a body that is about to be refused, so it may take its time. */
export function findDuplicate(text: string): string {
  const levels: Level[] = [];
  for (let i = 0; i < text.length; i++) {
    const level = levels.at(-1);
    if (text.charCodeAt(i) === QUOTE) {
      const end = closingQuote(text, i);
      if (level !== undefined && isName(text, end) && nameAgain(level, text.slice(i, end + 1))) break;
      i = end;
    } else move(levels, text.charAt(i));
  }
  return pointerTo(levels.map((level) => level.step));
}

function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (' \t\r\n'.includes(text.charAt(next)) && next < text.length) next++;
  return text.charAt(next) === ':';
}

function nameAgain(level: Level, quoted: string): boolean {
  const name: string = JSON.parse(quoted);
  level.step = name;
  return level.seen.size === level.seen.add(name).size;
}

function move(levels: Level[], letter: string): void {
  if (letter === '{' || letter === '[') levels.push({ seen: new Set(), step: 0 });
  else if (letter === '}' || letter === ']') levels.pop();
  else if (letter === ',') {
    const level = levels.at(-1);
    if (typeof level?.step === 'number') level.step++;
  }
}
