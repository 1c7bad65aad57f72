import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Real receivers on loopback, well-behaved and not, closed when the test ends. */
export type Receiver = {
  host: string;
  port: number;
  /** Every TCP connection ever accepted, so that a test can say that nobody knocked. */
  connections: Socket[];
};

function fixture(name: string): string {
  return readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');
}

/**
 * A test authority whose key was thrown away, and two certificates of it that are valid for a hundred years:
 * `receiver` for receiver.test, localhost and 127.0.0.1; `other` for other.test.
 */
export const testCa = fixture('ca.pem');
export function certificate(name: 'receiver' | 'other'): { key: string; cert: string } {
  return { key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) };
}

export async function serve(server: Server, host = '127.0.0.1', port = 0): Promise<Receiver> {
  const connections: Socket[] = [];
  server.on('connection', (socket) => {
    connections.push(socket);
    socket.on('error', () => {}); // being cut off is what these tests are about
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return { host, port: address.port, connections };
}

export function httpReceiver(answer: RequestListener, host?: string, port?: number): Promise<Receiver> {
  return serve(createHttpServer(answer), host, port);
}

export function httpsReceiver(
  options: ServerOptions,
  answer: RequestListener,
  host?: string,
  port?: number,
): Promise<Receiver> {
  const server = createHttpsServer(options, answer);
  server.on('tlsClientError', () => {});
  return serve(server, host, port);
}

/**
 * All that was sent. Of a request that is cut off, which is how the last one of a test may end, it never comes: as an
 * error it would belong to no test.
 */
export function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** Does with the connection what the test wants, as soon as anything arrives. */
export function rawReceiver(answer: (socket: Socket) => void): Promise<Receiver> {
  return serve(createServer((socket) => socket.once('data', () => answer(socket))));
}

/** A promise that the test keeps: "now the receiver has it". */
export function signal<T = void>(): { seen: Promise<T>; fire: (value: T) => void } {
  let fire: (value: T) => void = () => {};
  const seen = new Promise<T>((resolve) => {
    fire = resolve;
  });
  return { seen, fire };
}
