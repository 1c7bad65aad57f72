import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { memoryLog } from '../log/log.ts';
import { createWake, type WakeOptions } from '../wake/client.ts';
import type { ResponseBody } from '../wake/wire.ts';
import { manualClock } from './clock.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Said =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Cuts the connection without a word. */
  | 'hang_up';

export type Script = (seen: Seen, count: number) => Said | Promise<Said>;

export const TEST_KEY = 'wk_test_0123456789abcdefghijklmnopqrstuvwxyz';
export const ID = '550e8400-e29b-41d4-a716-446655440000';
export const OTHER_ID = '661f9511-f30c-42e5-b827-557766551111';

/** A real HTTP server on loopback that says what the test tells it to. */
export async function startRoom(script: Script) {
  const seen: Seen[] = [];
  const server = createServer((request, reply) => {
    void readBody(request).then(async (body) => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      say(reply, await script(one, seen.length));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, seen };
}

/** A room, a client in it, and everything a test looks at from outside. */
export async function startWorld(script: Script, options: Partial<WakeOptions> = {}) {
  const room = await startRoom(script);
  const clock = manualClock();
  const log = memoryLog();
  const alerts: string[] = [];
  const wake = createWake({
    url: room.url,
    apiKey: TEST_KEY,
    agentId: 'research-agent-01',
    clock,
    log,
    alert: (error) => alerts.push(error.fault),
    ...options,
  });
  return { ...room, clock, log, alerts, wake };
}

export function received(deliveryId = ID): Said {
  return {
    status: 201,
    body: { delivery_id: deliveryId, status: 'received', created_at: '2026-03-08T12:00:00.000000Z' },
  };
}

export function answered(status: ResponseBody['status'], more: Partial<ResponseBody> = {}): Said {
  return { status: 200, body: responseBody(status, more) };
}

export function responseBody(status: ResponseBody['status'], more: Partial<ResponseBody> = {}): ResponseBody {
  const responded_at = status === 'pending' ? null : '2026-03-08T12:10:00.000000Z';
  return { delivery_id: ID, status, feedback: null, edited_content: null, responded_at, ...more };
}

export const DRAFT = { type: 'question', headline: 'Release is ready', summary: 'Ship 2.1 today?' } as const;

/** Of a request that is cut off it never comes: as an error it would belong to no test. */
function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

function say(reply: ServerResponse, said: Said): void {
  if (said === 'hang_up') {
    reply.destroy();
    return;
  }
  reply.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
  reply.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body ?? {}));
}
