import { existsSync, readFileSync } from 'node:fs';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PUBLIC } from '../package-files.ts';
import type { Shell } from '../shell.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export async function staticRoutes(app: FastifyInstance, shell: Shell): Promise<void> {
  app.route({
    method: 'GET',
    url: '/llms.txt',
    handler: async (_, reply) => reply.type('text/plain; charset=utf-8').send(llms(shell)),
  });
  if (!existsSync(PUBLIC)) return;
  await app.register(fastifyStatic, {
    root: PUBLIC,
    wildcard: false,
    index: false,
    preCompressed: true,
    // Compressed files are sent in place of their originals. The page itself is sent by its own routes, with its
    // security headers.
    globIgnore: ['**/*.{br,gz}', 'index.html'],
    // Small files are sent whole: a range that does not exist would need a refusal of its own.
    acceptRanges: false,
    setHeaders: (reply, path) => {
      // Names under assets/ carry a hash of their content: they never change.
      const fixed = /[/\\]assets[/\\]/.test(path);
      reply.header('cache-control', fixed ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
  for (const route of PAGES) app.route({ method: 'GET', url: route, handler: (_, reply) => page(reply) });
}

/** The addresses of the desk: one page that does its own routing. */
const PAGES = [
  '/',
  '/login',
  '/setup',
  '/join',
  '/reset',
  '/sit',
  '/history',
  '/audit',
  '/insights',
  '/tasks',
  '/tasks/*',
  '/events',
  '/events/*',
  '/agents',
  '/agents/*',
  '/d/*',
  '/settings',
  '/settings/*',
];

function page(reply: FastifyReply): FastifyReply {
  return guarded(reply).sendFile('index.html', { cacheControl: false });
}

function guarded(reply: FastifyReply): FastifyReply {
  return reply
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('x-frame-options', 'DENY');
}

/** A person who typed a wrong address sees a page that says so. Programs get JSON, as everywhere. */
export function lostPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const isPerson = request.method === 'GET' && request.headers['sec-fetch-mode'] === 'navigate';
  if (!isPerson || !existsSync(`${PUBLIC}index.html`)) return undefined;
  const html = readFileSync(`${PUBLIC}index.html`);
  return guarded(reply).code(404).header('cache-control', 'no-store').type('text/html').send(html);
}

function llms({ baseUrl }: Shell): string {
  const url = baseUrl();
  return `# Lanternroom

> The place where agents deliver work and people decide. Agents speak WAKE v1.0 here.

Deliver: POST ${url}/wake/v1/deliver with "Authorization: Bearer $WAKE_API_KEY" and JSON
{agent_id, provider, type: update|question|output|alert, headline, summary, details?, timeout_seconds?}.
Store the delivery_id. Poll GET ${url}/wake/v1/response/{delivery_id} (add ?wait=60 to wait for the answer), or sweep
GET ${url}/wake/v1/responses?since=… . approved: go on. rejected: do not go on, read feedback. redirected: take over
edited_content and feedback first; edited_content replaces yours on approved, too. Never put credentials into details.

## More ways in

- [MCP](${url}/docs/mcp): ${url}/mcp over HTTP with the same key, or the command "lantern mcp"
- [Inbox](${url}/docs/akep): what the world reports, GET ${url}/akep/events
- [A2A](${url}/docs/a2a): agents that talk to each other
- [Hooks](${url}/docs/hooks): a person is asked before a coding agent's tools run
- [Clients](${url}/packages): the lines that install the command and the packages for TypeScript and Python

## Reference

- [WAKE in five minutes](${url}/docs/wake)
- [OpenAPI](${url}/openapi.json), [AsyncAPI](${url}/asyncapi.json)
- [Limits and extensions](${url}/.well-known/wake.json)
- [Errors](${url}/docs/errors)
- [All documents](${url}/docs)
`;
}
