import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { EnvelopeWire, ResumeWire } from './akep.ts';
import type { World } from './world.ts';

export type Frame = { event: string; id: string | null; data: string };

/** Reads Server-Sent Events frame by frame, as the standard says: every line end, and ids that stay. */
export class SseReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #gone: AbortController;
  readonly #decoder = new TextDecoder();
  #buffer = '';
  lastId: string | null = null;

  private constructor(reader: ReadableStreamDefaultReader<Uint8Array>, gone: AbortController) {
    this.#reader = reader;
    this.#gone = gone;
  }

  static async open(
    world: World,
    headers: Record<string, string> = {},
    query = '',
    key: string = world.agent.key,
  ): Promise<SseReader> {
    const gone = new AbortController();
    const reply = await fetch(`${world.url}/akep/events/stream${query}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      signal: gone.signal,
    });
    if (reply.status !== 200 || reply.body === null) throw new Error(`no stream: ${reply.status}`);
    onTestFinished(() => gone.abort());
    return new SseReader(reply.body.getReader(), gone);
  }

  /** The next frame with data; null at the end. */
  async next(): Promise<Frame | null> {
    for (;;) {
      const frame = this.#take();
      if (frame !== null) return frame;
      const { value, done } = await this.#reader.read().catch(() => ({ value: undefined, done: true }));
      if (done) return null;
      this.#buffer += this.#decoder.decode(value, { stream: true });
    }
  }

  #take(): Frame | null {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n');
      if (end < 0) return null;
      const lines = this.#buffer.slice(0, end).split(/\r\n|\r|\n/);
      this.#buffer = this.#buffer.slice(end + 2);
      const field = (name: string) =>
        lines.filter((l) => l.startsWith(`${name}: `)).map((l) => l.slice(name.length + 2));
      this.lastId = field('id').at(-1) ?? this.lastId;
      const data = field('data');
      if (data.length > 0)
        return { event: field('event')[0] ?? 'message', id: field('id')[0] ?? null, data: data.join('\n') };
    }
  }

  /** The next event; others on the way are passed over. */
  async nextEvent(): Promise<EnvelopeWire | null> {
    for (let frame = await this.next(); frame !== null; frame = await this.next()) {
      if (frame.event === 'event') return JSON.parse(frame.data) as EnvelopeWire;
    }
    return null;
  }

  /** Goes away without a word. */
  leave(): void {
    this.#gone.abort();
  }
}

export type RelayFrame =
  | { type: 'event'; cursor: string; event: EnvelopeWire }
  | { type: 'resume'; resume: ResumeWire }
  | { type: 'error'; error: string; event_id?: string; oldest_cursor?: string };

/** The relay's socket, frame by frame. */
export class Relay {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #frames: RelayFrame[] = [];
  #wake = () => {};
  #ended = false;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.#frames.push(JSON.parse(String(data)) as RelayFrame);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#ended = true;
        this.#wake();
        resolve({ code, reason: String(reason) });
      });
    });
    socket.on('error', () => {}); // being cut off is part of these tests
  }

  static async open(world: World, query = '', key: string = world.agent.key): Promise<Relay> {
    const url = `${world.url.replace(/^http/, 'ws')}/akep/relay${query}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    const relay = new Relay(socket);
    onTestFinished(() => socket.terminate());
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (_, reply) => reject(new Error(`no relay: ${reply.statusCode}`)));
      socket.once('error', reject);
    });
    return relay;
  }

  /** The next frame; null when the socket has closed and all is read. */
  async next(): Promise<RelayFrame | null> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async nextEvent(): Promise<EnvelopeWire | null> {
    for (let frame = await this.next(); frame !== null; frame = await this.next()) {
      if (frame.type === 'event') return frame.event;
    }
    return null;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  leave(): void {
    this.socket.terminate();
  }
}
