import { escapeHtml } from './html.ts';
import { renderStates } from './states.ts';

/**
 * As much markdown as our own documents use: headings, paragraphs, lists, tables, code, drawings, emphasis, links.
 * Everything is escaped before anything is marked up, so that no text can become markup of its own.
 */
export function toHtml(markdown: string): string {
  const lines = markdown.replaceAll('\r\n', '\n').split('\n');
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const block = BLOCKS.find(({ starts }) => starts.test(lines[at] ?? '')) ?? PARAGRAPH;
    const end = endOf(lines, at, block);
    html.push(block.render(lines.slice(at, end)));
    at = end;
  }
  return html.filter((part) => part !== '').join('\n');
}

type Block = {
  starts: RegExp;
  /** The block continues while lines match; null means a single line. */
  continues: RegExp | null;
  render(lines: readonly string[]): string;
};

const FENCE = /^```/;

const BLOCKS: readonly Block[] = [
  { starts: /^\s*$/, continues: /^\s*$/, render: () => '' },
  { starts: FENCE, continues: null, render: renderCode },
  { starts: /^#{1,6} /, continues: null, render: ([line = '']) => renderHeading(line) },
  { starts: /^\|/, continues: /^\|/, render: renderTable },
  { starts: /^[-*] /, continues: /^(?:[-*] |\s+\S)/, render: renderList },
  { starts: /^ {4}/, continues: /^(?: {4}|\s*$)/, render: (lines) => pre(lines.map((l) => l.slice(4))) },
];

const PARAGRAPH: Block = {
  starts: /./,
  continues: /^(?!\s*$|```|#{1,6} |\||[-*] )/,
  render: (lines) => `<p>${inline(lines.join('\n'))}</p>`,
};

function endOf(lines: readonly string[], at: number, { starts, continues }: Block): number {
  if (starts === FENCE) {
    const closing = lines.findIndex((line, i) => i > at && FENCE.test(line));
    return closing < 0 ? lines.length : closing + 1;
  }
  let end = at + 1;
  while (continues !== null && end < lines.length && continues.test(lines[end] ?? '')) end++;
  return end;
}

function renderCode([begin = '', ...lines]: readonly string[]): string {
  const inside = lines.filter((line) => !FENCE.test(line));
  return begin.startsWith('```mermaid') ? renderStates(inside) : pre(inside);
}

function pre(lines: readonly string[]): string {
  return `<pre tabindex="0"><code>${escapeHtml(lines.join('\n').trimEnd())}</code></pre>`;
}

export type Heading = { level: number; slug: string; text: string };

const HEADING = /^(#{1,6}) +(.*?)#*$/;

export function headingsOf(markdown: string): Heading[] {
  return markdown
    .replaceAll(/^```.*?^```$/gms, '')
    .split('\n')
    .flatMap((line) => {
      const [, marks, text = ''] = HEADING.exec(line) ?? [];
      return marks === undefined
        ? []
        : [{ level: marks.length, slug: slug(text), text: withoutMarks(text.trim()) }];
    });
}

/** The part leads to itself, so that its address can be copied. */
function renderHeading(line: string): string {
  const [, marks = '', text = ''] = HEADING.exec(line) ?? [];
  const [tag, id, words] = [`h${marks.length}`, slug(text), inline(text.trim())];
  if (marks.length === 1) return `<h1 id="${id}">${words}</h1>`;
  return `<${tag} id="${id}"><a class="here" href="#${id}">${words}</a></${tag}>`;
}

/** As on GitHub, so that links work in both places; the names of errors stay as they are. */
function slug(text: string): string {
  const kept = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return kept.trim().replace(/\s+/g, '-');
}

function renderTable(lines: readonly string[]): string {
  const rows = lines.map((line) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
  const [head = [], , ...body] = rows;
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
  const table = `<table><thead>${row(head, 'th')}</thead><tbody>${body.map((r) => row(r, 'td')).join('')}</tbody></table>`;
  // A table may be wider than the page; whoever has no mouse moves it with the arrow keys.
  return `<div class="wide" tabindex="0">${table}</div>`;
}

function renderList(lines: readonly string[]): string {
  const items: string[] = [];
  for (const line of lines) {
    if (/^[-*] /.test(line)) items.push(line.slice(2));
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`);
  }
  return `<ul>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`;
}

/** Code first: nothing inside it is marked up any further. */
export function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith('`') ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : marked(escapeHtml(part)),
    )
    .join('');
}

function marked(escaped: string): string {
  return escaped
    .replace(/!\[([^\]]*)\]\(charts\/([a-z-]+)\.svg\)/g, '<img src="/docs/charts/$2" alt="$1">')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, target: string) => link(words, target))
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** Our own documents, or somewhere on the web; nothing else is a link. */
function link(words: string, target: string): string {
  const own = /^([a-z0-9-]+)\.md(#[\w-]+)?$/.exec(target);
  if (own !== null) return `<a href="/docs/${own[1]}${own[2] ?? ''}">${words}</a>`;
  return /^(?:https:\/\/|#|\/[a-z])/.test(target) ? `<a href="${target}">${words}</a>` : words;
}

/** Text alone, where nothing can be marked up: in a title, or inside a link. */
export function withoutMarks(text: string): string {
  return text
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll('**', '');
}
