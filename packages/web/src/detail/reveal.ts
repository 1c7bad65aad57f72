import { hasHidden, pieces } from '../words/hidden-characters.ts';

type Node = {
  type: string;
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
};

/** A rehype step before the sanitiser: HTML in markdown is shown as text, neither hidden nor interpreted. */
export function showHtml() {
  return (tree: Node) => asText(tree);
}

function asText(node: Node): void {
  for (const child of node.children ?? []) {
    if (child.type === 'raw') child.type = 'text';
    else asText(child);
  }
}

/** A rehype step after the sanitiser: hidden characters in any text are marked and named. */
export function reveal() {
  return (tree: Node) => walk(tree);
}

function walk(node: Node): void {
  if (node.children === undefined) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && hasHidden(child.value ?? '')) return pieces(child.value ?? '').map(toNode);
    walk(child);
    return [child];
  });
}

function toNode(piece: { text: string; hidden: boolean }): Node {
  const text = { type: 'text', value: piece.text };
  if (!piece.hidden) return text;
  return { type: 'element', tagName: 'span', properties: { className: ['revealed'] }, children: [text] };
}
