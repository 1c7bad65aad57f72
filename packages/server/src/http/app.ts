import type { IncomingMessage } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { TSchema } from 'typebox';
import { Fault, isFault } from '../core/faults.ts';
import type { Room } from '../core/room.ts';
import { bearerOf, identify } from './entry/agent-key.ts';
import { ExposedKeys } from './entry/exposed-keys.ts';
import { isPrivate, readCertificate } from './entry/transport.ts';
import { type Door, errorBody, errorHandler, HTTP_STATUS } from './errors.ts';
import { lostPage } from './pages/static.ts';
import { addJsonParser, BODY_LIMIT, hearOut } from './reading/body.ts';
import type { Shell } from './shell.ts';
import { plainHttp, readableUrl, refuseBroken } from './sockets/broken.ts';
import { hangUpBehindBody } from './sockets/goodbye.ts';
import { answerHalfClosed } from './sockets/half-closed.ts';

declare module 'fastify' {
  /** What /openapi.json says of a route. */
  interface FastifyContextConfig extends Described {
    /** What all operations of its door have in common. */
    door?: DoorForm;
    /** Further operations at the same route, named by a verb after a colon at the end of the address. */
    verbs?: Record<string, Described>;
    /** The route exists only to say which methods work. */
    refuses?: true;
  }
}

/** A body: a schema, or a kind that /openapi.json has a name for; "stream" is one that does not end. */
export type Form = TSchema | NamedForm;
export type NamedForm = 'stream' | 'markdown' | 'text' | 'bytes';

/** The shape of a door's refusals, and another media type under which its JSON may be asked for. */
export type DoorForm = { refusal: TSchema; alias?: string };

/** One operation in the document. */
export type Described = {
  summary?: string;
  body?: TSchema | 'bytes';
  /** The same operation with bodies in other media types. */
  bodies?: Record<string, TSchema>;
  /** The body may be left out. */
  bodyOptional?: true;
  /** Null is an answer without a body; several forms differ by media type. */
  response?: Record<number, Form | readonly Form[] | null>;
  /** Query parameters and headers; path parameters are found automatically. */
  parameters?: readonly { name: string; in: string; required?: boolean; schema: TSchema }[];
  /** No key is needed. */
  open?: true;
};

export const PLAIN_DOOR: Door = { status: HTTP_STATUS, headers: () => ({}), body: errorBody };

export type AppOptions = {
  tls: { cert: string; key: string } | null;
  log: FastifyBaseLogger;
  proxies: readonly string[];
  baseUrl(): string;
};

const HEADER_LIMIT = 16 * 1024;

/** Ends connections that send a byte now and then, give or take the checking interval. */
const CONNECTION_LIMITS = {
  // Our own rule refuses a missing Host, in our own words.
  requireHostHeader: false,
  // Of two headers that may be sent only once, Node would show the first alone, and nobody would look at what the
  // other holds.
  joinDuplicateHeaders: true,
  maxHeaderSize: HEADER_LIMIT,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
};

/** An HTTP server with our limits and no routes yet. */
export function makeApp({ tls, log, proxies, baseUrl }: AppOptions): FastifyInstance {
  const app = Fastify({
    // At level info the framework only says that it listens, and our start message says that better.
    loggerInstance: log.level === 'info' ? log.child({}, { level: 'warn' }) : log,
    // A line for every request would cost more than the request; what matters is logged where it happens.
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for every request would also be kept for every parked one; the few lines about a request name its id.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT,
    trustProxy: proxies.length > 0 ? [...proxies] : false,
    forceCloseConnections: 'idle',
    // While we stop, requests that reached us are still answered, by the same routes and in the same words.
    return503OnClosing: false,
    // Loading a door takes as long as it takes: on a slow machine, the default of ten seconds would end the start.
    pluginTimeout: 0,
    requestTimeout: 30_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // No parameter is too long: what is not an id is refused by its own route.
    routerOptions: { maxParamLength: HEADER_LIMIT, ignoreTrailingSlash: false },
    rewriteUrl: (request) => readableUrl(request.url),
    clientErrorHandler: refuseBroken(baseUrl),
    http: CONNECTION_LIMITS as object,
    ...(tls === null
      ? {}
      : { https: { ...CONNECTION_LIMITS, ...readCertificate(tls), minVersion: 'TLSv1.2' as const } }),
  }) as unknown as FastifyInstance;
  // All of them, and not the first thousand: whatever judges a header must see it, and 16 KiB bound them. A proxy
  // appends what it knows of the client behind everything that the client has sent.
  app.server.maxHeadersCount = 0;
  // Any `Expect` other than 100-continue is ignored: we promise nothing about it, and it is no reason to refuse.
  app.server.on('checkExpectation', (...asked) => app.server.emit('request', ...asked));
  // Over TLS both sides close together.
  if (tls === null) answerHalfClosed(app.server);
  addJsonParser(app);
  app.addHook('onError', hearOut);
  app.decorateRequest('identity', null);
  return app;
}

const REAP_EVERY_MS = 50;
const PATIENCE_MS = 5_000;

/** Takes nothing new and answers what is under way; a client that stopped in the middle of its request is cut off. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  // Connections that become idle only now, after a parked request or a stream, would live on for their keep-alive
  // time.
  const reaping = setInterval(() => app.server.closeIdleConnections(), REAP_EVERY_MS);
  const losingPatience = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS);
  try {
    await app.close();
  } finally {
    clearInterval(reaping);
    clearTimeout(losingPatience);
  }
}

/** Rules that hold at every address: transport (W2), headers, and one shape for what is not found. */
export function addGroundRules(app: FastifyInstance, shell: Shell): void {
  const plain = errorHandler(PLAIN_DOOR, shell.baseUrl);
  const exposed = new ExposedKeys(shell.room);
  app.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const door = request.refusedAt;
    // Many doors have no error handler of their own and inherit this one.
    request.refusedAt = null;
    return (door?.errorHandler ?? plain)(error, request, reply);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const page = lostPage(request, reply);
    if (page !== undefined) return page;
    throw new Fault('not_found', 'There is nothing at this address.');
  });
  // A callback, because nearly always there is nothing to wait for, and a promise for every request is not free.
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.setHeader('x-content-type-options', 'nosniff');
    if (!reply.raw.shouldKeepAlive) hangUpBehindBody(request.raw);
    const flaw = flawOf(request.raw);
    if (flaw !== null) return done(new Fault('malformed_body', flaw));
    if (isPrivate(request.raw, shell.binding) || request.url === '/healthz' || request.url === '/readyz')
      done(request.is404 ? shell.addresses.wrongMethod(request, reply) : undefined);
    else refusePlain(shell, exposed, request).catch(done);
  });
}

/** What Node's parser lets pass and HTTP/1.1 does not: a host is wanted of everybody, once, and chunks may not be packed. */
function flawOf({ headers, httpVersion }: IncomingMessage): string | null {
  const { host, 'transfer-encoding': coding = 'chunked' } = headers;
  if (host === undefined && httpVersion === '1.1') return 'Send the header Host.';
  if (host?.includes(',')) return 'Send the header Host once.';
  return coding.toLowerCase() === 'chunked' ? null : 'The only Transfer-Encoding accepted here is chunked.';
}

async function refusePlain({ room }: Shell, exposed: ExposedKeys, request: FastifyRequest): Promise<never> {
  await noteIfExposed(room, exposed, request);
  throw plainHttp();
}

async function noteIfExposed(room: Room, exposed: ExposedKeys, request: FastifyRequest): Promise<void> {
  if (!bearerOf(request)?.startsWith('wk_live_')) return;
  try {
    const { key } = await identify(room, request);
    await exposed.note(key, request.ip);
  } catch (reason) {
    if (!isFault(reason)) throw reason;
  }
}
