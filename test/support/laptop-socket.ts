import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { until } from './until.ts';

type Frame = { type: string; id?: string; taskId?: string; connectionId?: string };

/** The laptop's end of a socket, which does nothing by itself: no journal, no acknowledgement, no way back. */
export class LaptopSocket {
  readonly texts: string[] = [];
  readonly closed: Promise<{ code: number }>;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', (code) => resolve({ code })));
    socket.on('message', (data) => this.texts.push(String(data)));
    socket.on('error', () => {});
    onTestFinished(() => socket.terminate());
  }

  /** Resolves when it is greeted, or open where nobody greets. */
  static async connect(url: string, key: string, path = '/a2a/connect'): Promise<LaptopSocket> {
    const headers = { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
    const laptop = new LaptopSocket(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    if (path.startsWith('/a2a/')) await until('the hub says hello', () => laptop.link !== '');
    return laptop;
  }

  get frames(): Frame[] {
    return this.texts.map((text) => JSON.parse(text) as Frame);
  }

  /** What the hub calls this connection. */
  get link(): string {
    return this.frames.find(({ type }) => type === 'hello')?.connectionId ?? '';
  }

  /** Tasks that frames of this type were about. */
  ids(type: string): string[] {
    return this.frames.filter((frame) => frame.type === type).map(({ taskId = '' }) => taskId);
  }

  /** `ack` or `error`, once the hub has said it. */
  answerTo(id: string): string | undefined {
    return this.frames.find((frame) => frame.id === id)?.type;
  }

  say(frame: Record<string, unknown>): void {
    this.#socket.send(JSON.stringify(frame));
  }
}
