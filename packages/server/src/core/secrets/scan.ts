import { SECRET_KINDS, type SecretKind } from './kinds.ts';
import { labelledKind } from './labels.ts';
import { keyBlockIn, urlPasswordIn } from './spans.ts';

/** No credential in the tables is shorter, and hardly a word of prose is as long. */
const SHORTEST = 16;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** 1 for the characters of a word: what tokens, paths and base64 are made of. */
const WORD = tableOf(/[A-Za-z0-9_\-+/.%~]/);
const ALNUM = tableOf(/[A-Za-z0-9]/);
/** Which kinds may begin with two given letters: 0 for none, else an index into GROUPS. */
const GROUP_OF = new Uint8Array(128 * 128);
const GROUPS: SecretKind[][] = [[]];
for (const kind of SECRET_KINDS) for (const start of kind.starts) addToGroup(kind, start);

function tableOf(member: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (member.test(String.fromCharCode(code)) ? 1 : 0));
}

function addToGroup(kind: SecretKind, start: string): void {
  const pair = (start.charCodeAt(0) << 7) | start.charCodeAt(1);
  if (GROUP_OF[pair] === 0) GROUP_OF[pair] = GROUPS.push([]) - 1;
  const group = GROUPS[GROUP_OF[pair] ?? 0];
  if (group?.includes(kind) === false) group.push(kind);
}

/**
 * `glpat-.glpat-.…` looks like the start of a token again and again, without ever being one. Reading on from each of
 * these starts would take seconds for a mebibyte, so once twice the length of the text has been read in vain, the scan
 * continues after what it has read.
 */
type Effort = { left: number; passed: number };
const FREE_EFFORT = 4096;

function isWord(code: number): boolean {
  return code < 128 && WORD[code] === 1;
}

/** The kind of the first credential in one text, or null. Never the credential. */
export function secretIn(text: string, label: string): string | null {
  if (text.length < SHORTEST) return null;
  return keyBlockIn(text, label) ?? urlPasswordIn(text) ?? wordIn(text, label);
}

/**
 * Looks at long words only. Each window of SHORTEST characters is read from its end, as Boyer and Moore did: the first
 * character that is no word's lets the scan jump past it, so prose costs about a look at every fourth character.
 */
function wordIn(text: string, label: string): string | null {
  const last = text.length - SHORTEST;
  const effort: Effort = { left: 2 * text.length + FREE_EFFORT, passed: 0 };
  let start = 0;
  while (start <= last) {
    let at = start + SHORTEST - 1;
    while (at >= start && isWord(text.charCodeAt(at))) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    const end = endOfWord(text, start + SHORTEST);
    const found = kindInWord(text, start, end, effort) ?? labelledKind(text, start, end, label);
    if (found !== null) return found;
    start = end + 1;
  }
  return null;
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end < text.length && isWord(text.charCodeAt(end))) end++;
  return end;
}

function kindInWord(text: string, start: number, end: number, effort: Effort): string | null {
  let first = text.charCodeAt(start);
  for (let i = start; i < end - 1; i++) {
    const second = text.charCodeAt(i + 1);
    const group = GROUP_OF[(first << 7) | second] ?? 0;
    if (group !== 0 && i >= effort.passed && beginsToken(text, i)) {
      const found = kindAt(text, i, GROUPS[group] ?? [], effort);
      if (found !== null) return found;
    }
    first = second;
  }
  return null;
}

/** A token does not begin after a letter, unless that letter ends an escape: `\nghp_…` and `%3Dghp_…` as written. */
function beginsToken(text: string, at: number): boolean {
  if (at === 0 || ALNUM[text.charCodeAt(at - 1)] !== 1) return true;
  return text.charCodeAt(at - 2) === BACKSLASH || text.charCodeAt(at - 3) === PERCENT;
}

function kindAt(text: string, at: number, group: readonly SecretKind[], effort: Effort): string | null {
  for (const { name, pattern, proof } of group) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    if (proof(found)) return name;
    effort.left -= found.length;
    if (effort.left < 0) effort.passed = Math.max(effort.passed, at + found.length);
  }
  return null;
}
