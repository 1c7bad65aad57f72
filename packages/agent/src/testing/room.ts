import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { main } from '../main.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Said {
  readonly status: number;
  readonly body?: unknown;
}

export const ID = '550e8400-e29b-41d4-a716-446655440000';
export const KEY = 'wk_test_0123456789abcdefghijklmnopqrstuvwxyz';

/** A real server with a script, and the command on a machine of its own. */
export async function startWorld(script: (seen: Seen) => Said | Promise<Said>) {
  const seen: Seen[] = [];
  const server = createServer((request, reply) => {
    void read(request).then(async (body) => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      seen.push(one);
      const said = await script(one);
      reply
        .writeHead(said.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(said.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'lantern-cli-'));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const log = join(folder, 'log.jsonl');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LANTERN_URL: url,
    WAKE_API_KEY: KEY,
    WAKE_AGENT_ID: 'research-agent-01',
    LANTERN_LOG: log,
  };
  return { seen, url, folder, log, env, run: runner(env) };
}

/** Runs `lantern …` and tells what came out. Time passes at once. */
export function runner(env: Readonly<Record<string, string | undefined>>) {
  return async (
    argv: readonly string[],
    more: {
      env?: Record<string, string | undefined>;
      stdin?: string;
      stop?: AbortSignal;
      /** What a person says when asked; nobody is there when left out. */
      confirm?: boolean;
      nowMs?: number;
    } = {},
  ) => {
    let out = '';
    let err = '';
    let nowMs = more.nowMs ?? Date.now();
    const code = await main(argv, {
      env: { ...env, ...more.env },
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      stdin: async () => more.stdin ?? '',
      confirm: async () => more.confirm ?? null,
      clock: {
        now: () => nowMs,
        sleep: async (ms) => {
          nowMs += ms;
        },
      },
      ...(more.stop === undefined ? {} : { stopSignal: () => more.stop ?? AbortSignal.abort() }),
    });
    return { code, out, err };
  };
}

export function answer(status: string, more: Record<string, unknown> = {}) {
  const responded_at = status === 'pending' ? null : '2026-03-08T12:10:00.000000Z';
  return { delivery_id: ID, status, feedback: null, edited_content: null, responded_at, ...more };
}

export const received: Said = {
  status: 201,
  body: { delivery_id: ID, status: 'received', created_at: '2026-03-08T12:00:00.000000Z' },
};

/** Of a request that is cut off it never comes: as an error it would belong to no test. */
function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}
