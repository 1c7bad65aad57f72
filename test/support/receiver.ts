import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };
export type Receiver = { origin: string; received: Received[]; connections: number };

/** A receiver of callbacks on loopback. `answer` decides what becomes of each; without it, all is well. */
export async function startReceiver(
  answer: (reply: ServerResponse, one: Received) => void = (reply) => reply.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      answer(reply, one);
    });
  });
  return listen(server, received);
}

/** One that does not speak HTTP properly: `answer` gets the socket as soon as anything has arrived. */
export function startRawReceiver(answer: (socket: Socket) => void): Promise<Receiver> {
  const received: Received[] = [];
  const server = createTcpServer((socket) => {
    socket.once('data', (data) => {
      received.push({ path: '', headers: {}, body: data.toString() });
      answer(socket);
    });
  });
  return listen(server, received);
}

async function listen(server: Server, received: Received[]): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const receiver: Receiver = { origin: '', received, connections: 0 };
  server.on('connection', (socket) => {
    receiver.connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // being cut off is part of the tests
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  receiver.origin = `http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}`;
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}
