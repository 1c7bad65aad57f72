import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import { readCertificate } from '../entry/transport.ts';

export type WaitingDoor = { close(): Promise<void> };

const BODY = JSON.stringify({
  error: { code: 'unavailable', message: 'The server waits for its database. Retry in a moment.' },
});

/** Answers while there is no database yet: the process is alive, but not ready. */
export function openWaitingDoor(at: {
  host: string;
  port: number;
  tls: { cert: string; key: string } | null;
}): Promise<WaitingDoor> {
  const server = at.tls === null ? createPlain(answer) : createTls(readCertificate(at.tls), answer);
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(at.port, at.host, () =>
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      }),
    );
  });
}

const answer: RequestListener = (request, reply) => {
  reply.setHeader('content-type', 'application/json; charset=utf-8');
  if (request.url === '/healthz') return void reply.end('{"status":"ok"}');
  reply.writeHead(503, { 'retry-after': '2', connection: 'close' }).end(BODY);
};
