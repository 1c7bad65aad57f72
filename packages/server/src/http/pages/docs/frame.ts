import { escapeHtml } from './html.ts';
import type { Document, Library, Shelf } from './library.ts';
import { withoutMarks } from './markdown.ts';

export type Page = {
  title: string;
  body: string;
  /** The document that is shown, if it is one. */
  name?: string;
};

/** A page of the documents, with all others beside it. Its look is packages/web/src/look/documents.css. */
export function frame(library: Library, { title, body, name }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(withoutMarks(title))} · Lanternroom</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/docs.css">
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header class="top">
<a class="brand" href="/docs"><img src="/icon.svg" alt="" width="24" height="24">Lanternroom <span>Documents</span></a>
<a class="desk" href="/">The desk</a>
</header>
<div class="page">
<nav class="shelves" aria-label="Documents">
${library.shelves.map((shelf) => toNav(shelf, name)).join('\n')}
</nav>
<main id="text">
${body}
</main>
</div>
</body>
</html>
`;
}

function toNav({ title, documents }: Shelf, current: string | undefined): string {
  const items = documents.map((document) => toItem(document, document.name === current));
  return `<h2>${escapeHtml(title)}</h2>\n<ul>${items.join('')}</ul>`;
}

function toItem({ name, title, parts }: Document, isCurrent: boolean): string {
  const words = escapeHtml(withoutMarks(title));
  if (!isCurrent) return `<li><a href="/docs/${name}">${words}</a></li>`;
  const inside = parts.map(({ slug, text }) => `<li><a href="#${slug}">${escapeHtml(text)}</a></li>`);
  const list = inside.length > 1 ? `<ul>${inside.join('')}</ul>` : '';
  return `<li><a href="/docs/${name}" aria-current="page">${words}</a>${list}</li>`;
}
