import { parseAst } from 'vitest/node';

/** A test found in a file. `text` is undefined when the title is computed and cannot be read from the source. */
export type Title = { readonly file: string; readonly text: string | undefined };

type Node = { readonly type: string; readonly [key: string]: unknown };

/** The titles of the `it` and `test` calls in a TypeScript file. Parsed: a commented-out test is not a test. */
export function titlesInTypeScript(file: string, source: string): Title[] {
  const calls: Node[] = [];
  collectCalls(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file), calls);
  // `it.each(table)(title)` is a call of a call; the inner one has a table where the title would be.
  const callees = new Set(calls.map((call) => call.callee));
  return calls
    .filter((call) => isTestCall(call) && !callees.has(call))
    .map((call) => ({ file, text: literalText((call.arguments as unknown[])[0]) }));
}

/** The titles of the tests in a Python file: the first line of the docstring, or else the method's name. */
export function titlesInPython(file: string, source: string): Title[] {
  const test =
    /^[ \t]*(?:async )?def (test\w*)\([^)]*\)[^:\n]*:[ \t]*\n(?:[ \t]*[rR]?("""|''')(.*?)(?:\2|$))?/gm;
  return [...source.matchAll(test)].map(([, name, , doc]) => ({ file, text: doc ?? name }));
}

function collectCalls(value: unknown, into: Node[]): void {
  if (Array.isArray(value)) {
    for (const item of value) collectCalls(item, into);
  } else if (isNode(value)) {
    if (value.type === 'CallExpression') into.push(value);
    for (const child of Object.values(value)) collectCalls(child, into);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** `it(…)`, `it.skip(…)`, `it.each(…)(…)`, and `it.each` with a tagged template. */
function isTestCall(call: Node): boolean {
  let root: unknown = call;
  while (isNode(root) && root.type !== 'Identifier') root = root.callee ?? root.object ?? root.tag;
  return isNode(root) && (root.name === 'it' || root.name === 'test');
}

function literalText(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Literal' && typeof value.value === 'string') return value.value;
  if (value.type !== 'TemplateLiteral') return undefined;
  const quasis = value.quasis as { value: { cooked: string } }[];
  return quasis.map((quasi) => quasi.value.cooked).join('…');
}
