import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fault } from '../../../core/faults.ts';
import { entry } from '../../../core/maps.ts';
import { readDrawings, readTexts } from '../../package-files.ts';
import type { Operation } from '../openapi.ts';
import { contentsPage, operationsPage } from './contents.ts';
import { frame } from './frame.ts';
import { Library, OPERATIONS } from './library.ts';
import { toHtml } from './markdown.ts';

type ByName = { Params: { name: string } };

/** The documents that came with this version, rendered: the `docs` link of every error leads here. */
export function docsRoutes(app: FastifyInstance, operations: readonly Operation[]): void {
  const library = new Library(readTexts('docs'));
  const drawings = readDrawings();
  const made = new Map<string, string>();

  app.route({
    method: 'GET',
    url: '/docs',
    handler: async (_, reply) =>
      send(
        reply,
        entry(made, '', () => frame(library, { title: 'Documents', body: contentsPage(library) })),
      ),
  });

  app.route<ByName>({
    method: 'GET',
    url: '/docs/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      const document = library.get(name);
      if (document === undefined)
        throw new Fault('not_found', 'There is no document with this name; see /docs.');
      // Made when it is asked for: not every route is known yet.
      const body = () => (name === OPERATIONS ? operationsPage(operations) : toHtml(document.text));
      return send(
        reply,
        entry(made, name, () => frame(library, { title: document.title, body: body(), name })),
      );
    },
  });

  app.route<ByName>({
    method: 'GET',
    url: '/docs/charts/:name',
    handler: async (request, reply) => {
      const drawing = drawings.get(request.params.name);
      if (drawing === undefined) throw new Fault('not_found', 'There is no drawing with this name.');
      return reply
        .headers({ 'content-security-policy': DRAWING, 'cache-control': 'no-cache' })
        .type('image/svg+xml; charset=utf-8')
        .send(drawing);
    },
  });
}

/** No script at all, and nothing that is not ours. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** A drawing brings its own style and nothing else. */
const DRAWING = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

function send(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(html);
}
