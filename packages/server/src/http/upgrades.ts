import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Who asks for another protocol, and where. Only WebSocket at an address that speaks it gets through; everybody else
 * is told so, because a connection that is left to itself would stay open for ever.
 */
export class Upgrades {
  readonly #byPath = new Map<string, TakeUpgrade>();

  serve(path: string, take: TakeUpgrade): void {
    this.#byPath.set(path, take);
  }

  attach(server: Pick<Server, 'on'>): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // From here on nobody listens for us: one who resets the connection while a key is looked up would end the process.
      socket.on('error', () => socket.destroy());
      const isWebSocket = /^websocket$/i.test(request.headers.upgrade ?? '');
      const take = this.#byPath.get((request.url ?? '').split('?', 1)[0] ?? '');
      if (isWebSocket && take !== undefined) take(request, socket, head);
      else refuseUpgrade(socket, 400, this.#refusal());
    });
  }

  #refusal(): string {
    const places = [...this.#byPath.keys()].join(' or ');
    return `There is no upgrade here. Ask without it, or for a WebSocket at ${places}.`;
  }
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
  socket.end(lines.join('\r\n'));
}
