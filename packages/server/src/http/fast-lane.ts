import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { type Binding, isPrivate } from './entry/transport.ts';
import { BODY_LIMIT } from './reading/body.ts';
import { oneByOne } from './sockets/one-by-one.ts';

/** An answer in full: names and values in turn, and a body that is text. */
export type FullReply = { status: number; headers: readonly string[]; body: string };

/** What a lane does with a body once its caller was let in; what it throws is worded by the long way. */
export type Take = (body: Buffer) => Promise<FullReply>;

/** Lets a caller in before the body is read, or throws: then the long way looks at the request anew. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => Take | Promise<Take>;

/** A lane with the name that its requests are counted under. */
export type Named = { route: string; lane: Lane };

type Note = (route: string, status: number, millis: number) => void;

const JSON_TYPES = new Set(['application/json', 'application/json; charset=utf-8']);

/** Why a request that was read here goes the long way after all. */
const refused = new WeakMap<IncomingMessage, unknown>();

/** Thrown by a lane that has done nothing yet: the long way gets the body as if nobody had read it. */
export const ANEW = Symbol('the long way takes it from the beginning');
const unread = new WeakMap<IncomingMessage, Buffer>();

/**
 * The few addresses that nearly all traffic goes to are answered without the framework, which costs as much as all else
 * that they do. Only plain success ends here: whatever is unusual about a request, and every refusal, goes the long way,
 * so there is one place for rules and one for words. A test holds both ways to the same answer.
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

  /** On its way out the server says goodbye with each answer; the framework knows how. */
  close(): void {
    this.#open = false;
  }

  /** Stands in front of the framework from here on. */
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
    const isEarly = !request.complete;
    const body = await read(request);
    if (body === null) return;
    let reply: FullReply;
    try {
      // What was held back may have come after its sender's key had ended (W28).
      if (isEarly) take = await lane(request, response);
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
   * Answers of one turn of the loop leave at its end, all of them: whoever is woken by the first finds the others there.
   * To wake a reader for each one costs more than everything else that a look at a task does.
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
    // It may have waited until the server was on its way out.
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

/** The whole body; null when the caller has gone in the middle of it. */
function read(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    let body: Buffer | null = null;
    request.on('data', (chunk: Buffer) => {
      body = body === null ? chunk : Buffer.concat([body, chunk]);
    });
    request.on('end', () => resolve(body));
    request.on('error', () => resolve(null));
  });
}

/** For the routes behind a lane: what was refused there is refused here, in the door's words. */
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

/** The same without what the framework does on the way out: for thousands that are answered in the same moment. */
export function sendAtOnce(reply: FastifyReply, { status, headers, body }: FullReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(status, [...headers, 'content-length', String(Buffer.byteLength(body))]);
  reply.raw.end(body);
  return reply;
}

/** A long answer in the pieces it was found in: to copy them together would take another page of memory for each page. */
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
