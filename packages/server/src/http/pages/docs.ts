import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fault } from '../../core/faults.ts';
import { entry } from '../../core/maps.ts';
import { readTexts } from '../package-files.ts';
import { escapeHtml, toHtml } from './markdown.ts';
import type { Operation } from './openapi.ts';

type ByName = { Params: { name: string } };

/** The documents that came with this version, rendered: the `docs` link of every error leads here. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[]): void {
  const texts = readTexts('docs');
  const pages = new Map<string, string>();
  // Under a name that no document has. Made when it is asked for: not every route is known yet.
  const contents = () => entry(pages, '', () => index(texts, operations));

  app.route({
    method: 'GET',
    url: '/docs',
    handler: async (_, reply) => page(reply, 'Documents', contents()),
  });

  app.route({
    method: 'GET',
    url: '/docs/style.css',
    handler: async (_, reply) =>
      reply.header('cache-control', 'max-age=3600').type('text/css; charset=utf-8').send(STYLE),
  });

  app.route<ByName>({
    method: 'GET',
    url: '/docs/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      const text = texts.get(name);
      if (text === undefined) throw new Fault('not_found', 'There is no document with this name; see /docs.');
      return page(
        reply,
        titleOf(text, name),
        entry(pages, name, () => toHtml(text)),
      );
    },
  });
}

function titleOf(text: string, name: string): string {
  return /^# +(.*)$/m.exec(text)?.[1] ?? name;
}

function index(texts: ReadonlyMap<string, string>, operations: readonly Operation[]): string {
  const documents = [...texts].map(
    ([name, text]) => `<li><a href="/docs/${name}">${escapeHtml(titleOf(text, name))}</a></li>`,
  );
  const rows = operations.map(
    ({ method, path, described }) =>
      `<tr><td><code>${method.toUpperCase()}</code></td><td><code>${escapeHtml(path)}</code></td><td>${escapeHtml(described.summary ?? '')}</td></tr>`,
  );
  return [
    '<h1>Documents</h1>',
    `<ul>${documents.join('')}</ul>`,
    '<h2>Operations</h2>',
    '<p>For programs: <a href="/openapi.json">openapi.json</a>, <a href="/llms.txt">llms.txt</a>. To install the clients: <a href="/packages">packages</a>.</p>',
    `<table><tbody>${rows.join('')}</tbody></table>`,
  ].join('\n');
}

/** No script at all, and no style but our own file. */
const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function page(reply: FastifyReply, title: string, body: string): FastifyReply {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} · Lanternroom</title><link rel="stylesheet" href="/docs/style.css">`;
  return reply
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head>${head}</head><body><nav><a href="/docs">Documents</a></nav><main>${body}</main></body></html>`,
    );
}

const STYLE = `:root{color-scheme:light dark;--canvas:#edefea;--ink:#1b231f;--line:#d0d5cc;--accent:#0e5a5e;--sunken:#e3e6df}
@media(prefers-color-scheme:dark){:root{--canvas:#111615;--ink:#e4e8e3;--line:#2a3331;--accent:#7cc4c0;--sunken:#0c100f}}
body{background:var(--canvas);color:var(--ink);font:16px/1.6 system-ui,sans-serif;margin:0 auto;max-width:68rem;padding:1rem}
h1,h2,h3{line-height:1.25}h3{margin:2rem 0 .25rem;font-family:ui-monospace,monospace;font-size:1rem}
:target{outline:2px solid var(--accent);outline-offset:4px}
a{color:var(--accent)}code,pre{font:14px/1.5 ui-monospace,monospace}
pre{background:var(--sunken);padding:.75rem;overflow:auto}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border-bottom:1px solid var(--line);padding:.4rem .75rem .4rem 0;text-align:left;vertical-align:top}
`;
