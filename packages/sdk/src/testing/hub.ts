import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type ConnectOptions, connect } from '../a2a/connect.ts';
import { TEST_KEY } from './room.ts';

/** Only what hangs should meet this. */
export const PATIENCE_MS = 120_000;

type Frame = Record<string, unknown> & { id: string; type: string };

/** One connection as the hub sees it. */
export class HubSide {
  readonly frames: Frame[] = [];
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.frames.push(JSON.parse(String(data))));
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  task(id: string, more: Record<string, unknown> = {}): void {
    const message = { messageId: `m-${id}`, role: 'ROLE_USER', parts: [{ text: `about ${id}` }] };
    this.send({ type: 'task', id, taskId: `task-${id}`, contextId: `context-${id}`, message, ...more });
  }

  ack(frame: Frame): void {
    this.send({ type: 'ack', id: frame.id });
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** Without a goodbye. */
  cut(): void {
    this.#socket.terminate();
  }

  /** What was said about work, without acknowledgements. */
  get said(): Frame[] {
    return this.frames.filter(({ type }) => type !== 'ack');
  }

  get acks(): string[] {
    return this.frames.filter(({ type }) => type === 'ack').map(({ id }) => id);
  }

  until(type: string, count = 1): Promise<Frame> {
    return vi.waitFor(() => {
      const found = this.frames.filter((frame) => frame.type === type)[count - 1];
      if (found === undefined) throw new Error(`no ${type} yet: ${JSON.stringify(this.frames)}`);
      return found;
    }, PATIENCE_MS);
  }

  untilAcked(id: string): Promise<void> {
    return vi.waitFor(() => {
      if (!this.acks.includes(id)) throw new Error(`${id} is not acknowledged`);
    }, PATIENCE_MS);
  }
}

/** A hub that speaks `lantern.v1` and says what the test tells it to. `refuse` answers the upgrade with a status. */
export async function startHub(refuse: () => number | null = () => null) {
  const sides: HubSide[] = [];
  const requests: { url: string; authorization: string | undefined }[] = [];
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'lantern.v1' });
  http.on('upgrade', (request, socket, head) => {
    requests.push({ url: request.url ?? '', authorization: request.headers.authorization });
    const status = refuse();
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const side = new HubSide(opened);
      sides.push(side);
      const connectionId = `link_${sides.length}`;
      side.send({ type: 'hello', protocol: 'lantern.v1', agent: '@home/agent', connectionId });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  const address = http.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const side = (number = 1): Promise<HubSide> =>
    vi.waitFor(() => {
      const found = sides[number - 1];
      if (found === undefined) throw new Error(`there are ${sides.length} connections`);
      return found;
    }, PATIENCE_MS);
  return { url, requests, side };
}

/** An agent's end that is gone when the test ends. */
export function agentAt(url: string, options: Partial<ConnectOptions>) {
  const errors: unknown[] = [];
  const connection = connect({
    url,
    apiKey: TEST_KEY,
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await connection.stop({ withinMs: 0 });
  });
  return { connection, errors };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lantern-a2a-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
