import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { endWith } from './goodbye.ts';

export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

type Judge = (request: IncomingMessage) => boolean;
type Judges = { isPrivate: Judge; isFromElsewhere: Judge };

const CROSS_SITE = 'This WebSocket was asked for by a page of another site. Connect from a program.';

/**
 * Requests for another protocol. WebSocket is accepted at an address that speaks it and refused elsewhere, because an
 * abandoned connection would stay open for ever. Any other upgrade is ignored and the request answered as usual:
 * Java's client, among others, asks for HTTP/2 with every first request. One that came over plain HTTP from another
 * machine is refused like any other, and its key is recorded as exposed (W2).
 */
export class Upgrades {
  readonly #byPath = new Map<string, TakeUpgrade>();

  serve(path: string, take: TakeUpgrade): void {
    this.#byPath.set(path, take);
  }

  attach(server: Pick<Server, 'on' | 'emit'>, { isPrivate, isFromElsewhere }: Judges): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // From here on the framework no longer listens: an unhandled reset while a key is looked up would end the
      // process.
      socket.on('error', destroy);
      if (!/^websocket$/i.test(request.headers.upgrade ?? '') || !isPrivate(request))
        return answerAnyway(server, request, socket, head);
      if (isFromElsewhere(request)) return refuseUpgrade(socket, 403, CROSS_SITE);
      const take = this.#byPath.get((request.url ?? '').split('?', 1)[0] ?? '');
      if (take !== undefined) take(request, socket, head);
      else refuseUpgrade(socket, 400, this.#refusal());
    });
  }

  #refusal(): string {
    const places = [...this.#byPath.keys()].join(' or ');
    return `There is no upgrade here. Ask without it, or for a WebSocket at ${places}.`;
  }
}

/** From here on its WebSocket listens: a second listener on each of thousands would only cost memory. */
export function stopListening(socket: Duplex): void {
  socket.off('error', destroy);
}

/** One function for all sockets: thousands of them may be open. */
function destroy(this: Duplex): void {
  this.destroy();
}

const ASKING = new Set(['connection', 'upgrade', 'http2-settings']);

/** Reads the request once more from its beginning, without the upgrade headers. */
function answerAnyway(
  server: Pick<Server, 'emit'>,
  { method, url, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!ASKING.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`);
  }
  lines.push('Connection: close', '', '');
  socket.unshift(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

const REASONS: Record<number, string> = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden' };

/** A plain answer on a socket that nobody else owns. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  error: string,
  headers: readonly string[] = [],
): void {
  const body = JSON.stringify({ error });
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Service Unavailable'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...headers,
    '',
    body,
  ];
  endWith(socket, lines.join('\r\n'));
}
