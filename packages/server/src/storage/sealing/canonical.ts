/**
 * RFC 8785, written here because the package for it takes twice as long and every delivery passes through; a test
 * compares the two. Strings and numbers are those of `JSON.stringify`, as the RFC says.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  return Array.isArray(value) ? array(value) : object(value as Record<string, unknown>);
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} has no form in JSON`);
  return JSON.stringify(value ?? null);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that JSON escapes.
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Most strings need only quotes, and checking that takes half the time of `JSON.stringify`. */
function quoted(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The same few names occur again and again. The limit keeps unusual names from filling the memory. */
const MOST_NAMES = 1_000;
const LONGEST_NAME = 64;
const names = new Map<string, string>();

function named(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = `${quoted(name)}:`;
  if (names.size < MOST_NAMES && name.length <= LONGEST_NAME) names.set(name, text);
  return text;
}

function array(items: readonly unknown[]): string {
  let text = '[';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text += ',';
    text += canonicalJson(items[i]);
  }
  return `${text}]`;
}

/** Objects have few members, often already in order: `sort` would copy them three times. */
const FEW = 24;

function sorted(members: string[]): string[] {
  if (members.length > FEW) return members.sort();
  for (let i = 1; i < members.length; i++) {
    const name = members[i] as string;
    let at = i;
    for (; at > 0 && (members[at - 1] as string) > name; at--) members[at] = members[at - 1] as string;
    members[at] = name;
  }
  return members;
}

/** Members in the order of their UTF-16 units, which is the default order of `sort`. */
function object(members: Record<string, unknown>): string {
  let text = '{';
  for (const name of sorted(Object.keys(members))) {
    const value = members[name];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += named(name) + canonicalJson(value);
  }
  return `${text}}`;
}
