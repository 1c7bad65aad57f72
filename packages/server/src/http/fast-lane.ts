import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { type Binding, isPrivate } from './entry/transport.ts';
import { BODY_LIMIT } from './reading/body.ts';
import { oneByOne } from './sockets/one-by-one.ts';

/** A whole answer. Header names and values alternate in one list. */
export type FullReply = { status: number; headers: readonly string[]; body: string };

/** Handles a body after its caller was let in. What it throws is reported by the framework's route. */
export type Take = (body: Buffer) => Promise<FullReply>;

/** Lets a caller in before the body is read. If it throws, the framework's route handles the request from the start. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => Take | Promise<Take>;

/** A lane with the name that its requests are counted under. */
export type Named = { route: string; lane: Lane };

type Note = (route: string, status: number, millis: number) => void;

const JSON_TYPES = new Set(['application/json', 'application/json; charset=utf-8']);

/** Why a request whose body was already read here is handed to the framework's route. */
const refused = new WeakMap<IncomingMessage, unknown>();

/** Thrown by a lane that has done nothing yet: the framework's route then reads the body as if it were untouched. */
export const ANEW = Symbol('the long way takes it from the beginning');
const unread = new WeakMap<IncomingMessage, Buffer>();

/**
 * Answers the few addresses that nearly all traffic goes to without the framework, which would cost as much as
 * everything else they do. Only plain success ends here: an unusual request, and every refusal, takes the framework's
 * route ("the long way"), so that rules and wording exist once. A test holds both ways to the same answer.
 */
export class FastLanes {
  readonly #lanes = new Map<string, Named>();
  readonly #families: ((url: string) => Named | undefined)[] = [];
  readonly #binding: Binding;
  readonly #note: Note;
  #open = true;
  #leaving: (() => void)[] = [];

  constructor(binding: Binding, note: Note) {
    this.#binding = binding;
    this.#note = note;
  }

  /** For `POST` at exactly this address. */
  add(url: string, lane: Lane): void {
    this.#lanes.set(url, { route: url, lane });
  }

  /** For `POST` at addresses of one shape, counted as one route. */
  addFamily(find: (url: string) => Named | undefined): void {
    this.#families.push(find);
  }

  /** From now on every request takes the long way: a server that shuts down announces it in each answer. */
  close(): void {
    this.#open = false;
  }

  /** Puts the lanes in front of the framework. */
  guard(app: FastifyInstance): void {
    const [longWay] = app.server.listeners('request') as RequestListener[];
    if (longWay === undefined) throw new Error('the framework does not listen');
    app.server.removeAllListeners('request');
    const serve: RequestListener = (request, response) => {
      const found = this.#laneOf(request);
      if (found === undefined) longWay(request, response);
      else void this.#drive(found, request, response, longWay);
    };
    app.server.on('request', oneByOne(serve));
  }

  #laneOf(request: IncomingMessage): Named | undefined {
    if (request.method !== 'POST' || !this.#open) return undefined;
    const found = this.#find(request.url ?? '');
    if (found === undefined) return undefined;
    return isPlain(request) && isPrivate(request, this.#binding) ? found : undefined;
  }

  #find(url: string): Named | undefined {
    const exact = this.#lanes.get(url);
    if (exact !== undefined) return exact;
    for (const find of this.#families) {
      const found = find(url);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #drive(
    { lane, route }: Named,
    request: IncomingMessage,
    response: ServerResponse,
    longWay: RequestListener,
  ): Promise<void> {
    const started = performance.now();
    let take: Take;
    try {
      take = await lane(request, response);
    } catch {
      return longWay(request, response);
    }
    const isWhole = hasWholeBody(request);
    const body: Buffer | null = isWhole ? request.read() : await read(request);
    if (body === null) return;
    let reply: FullReply;
    try {
      // The key may have been revoked while the rest of the body was on its way (W28).
      if (!isWhole) take = await lane(request, response);
      reply = await take(body);
    } catch (reason) {
      unread.set(request, body);
      if (reason !== ANEW) refused.set(request, reason);
      return longWay(request, response);
    }
    this.#leaveTogether(() => {
      this.#send(reply, response);
      this.#note(route, reply.status, performance.now() - started);
    });
  }

  /**
   * Answers of one turn of the event loop are written together at its end: a client that is woken by the first one finds
   * the others there, too. Waking it for each answer would cost more than everything else that a small request does.
   */
  #leaveTogether(leave: () => void): void {
    if (this.#leaving.push(leave) > 1) return;
    setImmediate(() => {
      const all = this.#leaving;
      this.#leaving = [];
      for (const one of all) one();
    });
  }

  #send({ status, headers: own, body }: FullReply, response: ServerResponse): void {
    const headers = [...NOSNIFF, ...own, 'content-length', String(Buffer.byteLength(body))];
    // The server may have begun to shut down while the request waited.
    if (!this.#open) headers.push('connection', 'close');
    response.writeHead(status, headers);
    response.end(body);
  }
}

export const JSON_HEADERS = ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'];

const NOSNIFF = ['x-content-type-options', 'nosniff'];

function isPlain({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (
    headers.host?.includes(',') === false &&
    length !== undefined &&
    Number(length) > 0 &&
    Number(length) <= BODY_LIMIT &&
    JSON_TYPES.has(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** The length counts, because `complete` is set a moment after the last bytes of a body that came with its headers. */
function hasWholeBody({ complete, headers, readableLength }: IncomingMessage): boolean {
  return complete || readableLength === Number(headers['content-length']);
}

/** The whole body; null when the caller disconnected in the middle of it. */
function read(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const body = new GrowingBody();
    request.on('data', (chunk: Buffer) => body.add(chunk));
    request.on('end', () => resolve(body.whole));
    request.on('error', () => resolve(null));
  });
}

/**
 * Nearly always a body comes in one piece, which is passed on as it is. Room for more doubles each time: joined piece
 * by piece, a megabyte that comes by the byte would be copied half a million times.
 */
export class GrowingBody {
  #kept: Buffer | null = null;
  #length = 0;

  get whole(): Buffer | null {
    return this.#kept?.subarray(0, this.#length) ?? null;
  }

  add(chunk: Buffer): void {
    const before = this.#length;
    this.#length += chunk.length;
    if (this.#kept === null) {
      this.#kept = chunk;
      return;
    }
    if (this.#length > this.#kept.length) {
      const larger = Buffer.allocUnsafe(this.#length * 2);
      this.#kept.copy(larger, 0, 0, before);
      this.#kept = larger;
    }
    chunk.copy(this.#kept, before);
  }
}

/** For the routes behind a lane: what the lane refused is refused here, in the protocol's own wording. */
export const refuseFromLane: preParsingHookHandler = (request, _reply, payload, done) => {
  const reason = refused.get(request.raw);
  if (reason === undefined) done(null, payload);
  else done(reason as Error);
};

/** For the routes behind a lane that throws `ANEW`. */
export const readAnew: preParsingHookHandler = (request, _reply, payload, done) => {
  const body = unread.get(request.raw);
  done(null, body === undefined ? payload : Readable.from([body], { objectMode: false }));
};

/** The same answer by the long way. */
export function sendFull(reply: FastifyReply, { status, headers, body }: FullReply): FastifyReply {
  for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1]);
  return reply.code(status).send(body);
}

/** The same without the framework's hooks: for thousands of requests that are answered at the same moment. */
export function sendAtOnce(reply: FastifyReply, { status, headers, body }: FullReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(status, [...headers, 'content-length', String(Buffer.byteLength(body))]);
  reply.raw.end(body);
  return reply;
}

/** Sends a long answer in the pieces it was read in; joining them would need the memory for it twice. */
export function sendParts(
  reply: FastifyReply,
  headers: readonly string[],
  parts: readonly Uint8Array[],
): FastifyReply {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const { raw } = reply.hijack();
  raw.writeHead(200, [...headers, 'content-length', String(length)]);
  raw.cork();
  for (const part of parts) raw.write(part);
  raw.end();
  raw.uncork();
  return reply;
}

/** What a lane and a route both know of a request. */
export type Headed = Pick<FastifyRequest, 'headers'>;
