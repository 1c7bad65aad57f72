import type { Operation } from '../openapi.ts';
import { escapeHtml } from './html.ts';
import type { Document, Library } from './library.ts';
import { inline, withoutMarks } from './markdown.ts';

/** Where a reader begins: every document with its first sentence. */
export function contentsPage(library: Library): string {
  const shelves = library.shelves.map(
    ({ title, documents }) =>
      `<h2>${escapeHtml(title)}</h2>\n<ul class="entries">${documents.map(toEntry).join('')}</ul>`,
  );
  return [
    '<h1>Documents</h1>',
    '<p class="lead">They came with this server and describe the version that runs here.</p>',
    ...shelves,
    `<h2>For programs</h2>`,
    '<p><a href="/llms.txt">llms.txt</a>, <a href="/openapi.json">openapi.json</a>, <a href="/asyncapi.json">asyncapi.json</a>; and <a href="/packages">packages</a>, the lines that install the clients.</p>',
  ].join('\n');
}

function toEntry({ name, title, summary }: Document): string {
  return `<li><a href="/docs/${name}">${escapeHtml(withoutMarks(title))}</a><p>${inline(summary)}</p></li>`;
}

/** The doors, by the addresses that are theirs. */
const DOORS: readonly (readonly [title: string, isHere: RegExp])[] = [
  ['Agents deliver and ask', /^\/(wake|prompts)\b|wake\.json$/],
  ['Events for agents', /\/akep\b/],
  ['Agents that others call', /^\/(@|a2a)|agent(-card)?\.json$|jwks\.json$/],
  ['The desk', /^\/desk\b/],
  ['Everything else', /^/],
];

export function operationsPage(operations: readonly Operation[]): string {
  const doorOf = ({ path }: Operation) => DOORS.find(([, isHere]) => isHere.test(path))?.[0];
  const parts = DOORS.map(([title]) => {
    const rows = operations.filter((operation) => doorOf(operation) === title).map(toRow);
    return `<h2>${title}</h2>\n<div class="wide" tabindex="0"><table class="operations"><tbody>${rows.join('')}</tbody></table></div>`;
  });
  return [
    '<h1>Operations</h1>',
    '<p class="lead">Every address that is served, and what it does. With all fields and answers: <a href="/openapi.json">openapi.json</a>.</p>',
    ...parts,
  ].join('\n');
}

function toRow({ method, path, described }: Operation): string {
  return `<tr><td><code>${method.toUpperCase()}</code></td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(described.summary ?? '')}</td></tr>`;
}
