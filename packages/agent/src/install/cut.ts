import { createScanner, findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

// jsonc-parser's token numbers; its type is a const enum, which does not exist at run time.
const COMMA = 5;
const TRIVIA = [12, 13, 14, 15];

/**
 * Removes one member of a list or an object, with its comma and its line, and leaves every comment in place. The
 * library's own removal breaks the text when the last member of a list goes.
 */
export function cutOut(text: string, path: (string | number)[]): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const value = tree === undefined ? undefined : findNodeAtLocation(tree, path);
  const member = value?.parent?.type === 'property' ? value.parent : value;
  if (member === undefined) return text;
  const end = member.offset + member.length;
  const comma = commaFrom(text, end) ?? commaBefore(text, member);
  const cuts = [{ from: startOfLine(text, member.offset), to: end }];
  if (comma !== null) cuts.push({ from: comma, to: comma + 1 });
  return cuts
    .sort((one, other) => other.from - one.from)
    .reduce((left, { from, to }) => left.slice(0, from) + left.slice(to), text);
}

/** The last member has no comma after it, so the one before it goes. */
function commaBefore(text: string, member: Node): number | null {
  const members = member.parent?.children ?? [];
  const previous = members[members.indexOf(member) - 1];
  return previous === undefined ? null : commaFrom(text, previous.offset + previous.length);
}

function commaFrom(text: string, at: number): number | null {
  const scanner = createScanner(text);
  scanner.setPosition(at);
  let token: number = scanner.scan();
  while (TRIVIA.includes(token)) token = scanner.scan();
  return token === COMMA ? scanner.getTokenOffset() : null;
}

function startOfLine(text: string, at: number): number {
  const before = text.slice(0, at);
  return before.length - (/\r?\n?[ \t]*$/.exec(before)?.[0].length ?? 0);
}
