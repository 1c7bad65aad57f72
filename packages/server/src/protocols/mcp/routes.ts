import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Fault } from '../../core/faults.ts';
import { bearerOf, identify } from '../../http/entry/agent-key.ts';
import { letIn } from '../../http/entry/let-in.ts';
import { errorHandler } from '../../http/errors.ts';
import { parseStrict } from '../../http/reading/strict-json.ts';
import type { Shell } from '../../http/shell.ts';
import { MCP_DOOR } from './errors.ts';
import { insideFetch } from './inside.ts';
import { refuseStrangers } from './origin.ts';
import type { Rooms } from './rooms.ts';

const METHODS: HTTPMethods[] = ['GET', 'POST', 'DELETE'];

/** The MCP door: Streamable HTTP at one address, for an agent's key and for nothing else. */
export async function mcpRoutes(app: FastifyInstance, shell: Shell): Promise<void> {
  // Loaded with the first request: a start need not wait for a protocol that may never be spoken.
  let opening: Promise<Rooms> | null = null;
  const open = () => {
    opening ??= import('./rooms.ts').then(({ Rooms }) => new Rooms(shell, insideFetch(app, shell)));
    return opening;
  };
  app.setErrorHandler(errorHandler(MCP_DOOR, shell.baseUrl));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  letIn(app, async (request) => {
    refuseStrangers(shell, request);
    request.identity = await identify(shell.room, request);
  });
  app.route({
    method: METHODS,
    url: '/mcp',
    exposeHeadRoute: false,
    handler: async (request, reply) => serve(shell, await open(), request, reply),
  });
}

async function serve(
  { parking }: Shell,
  rooms: Rooms,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = bearerOf(request);
  if (request.identity === null || key === null) throw new Error('a route without a caller');
  const body = request.method === 'POST' ? parsedBody(request) : undefined;
  const handle = rooms.of(request.identity, key);
  reply.hijack();
  reply.raw.setHeader('cache-control', 'no-store');
  // A subscription stays open for hours; a stopping server ends it instead of waiting.
  const stay = parking.onDrain(() => rooms.closeAll());
  // A tool may wait for a minute, and a subscription says nothing for hours: who has left must be noticed (W30).
  const { socket } = request.raw;
  const leave = () => void socket.destroy();
  socket.once('end', leave);
  reply.raw.once('close', () => {
    stay();
    socket.off('end', leave);
  });
  // The handler's type wants `method` present or absent, and Node's type allows undefined.
  await handle(request.raw as Parameters<typeof handle>[0], reply.raw, body);
  return reply;
}

/**
 * The older era has batches, all of them worked on at once and gathered in one answer, which counts as one (W29): a
 * body has room for ten thousand calls that are answered with megabytes each.
 */
const MOST_AT_ONCE = 10;

function parsedBody(request: FastifyRequest): unknown {
  const parsed = parseStrict(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
  if (!parsed.ok) throw new Fault('malformed_body', parsed.message);
  if (Array.isArray(parsed.value) && parsed.value.length > MOST_AT_ONCE)
    throw new Fault('malformed_body', `Send at most ${MOST_AT_ONCE} messages in one request.`);
  return parsed.value;
}
