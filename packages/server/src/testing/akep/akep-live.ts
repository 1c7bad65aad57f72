import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { EventStream, type Frame } from '../network/stream.ts';
import type { World } from '../world.ts';
import type { EnvelopeWire, ResumeWire } from './akep.ts';

/** `GET /akep/events/stream`, frame by frame. */
export class SseReader extends EventStream<Frame> {
  static async open(
    world: World,
    headers: Record<string, string> = {},
    query = '',
    key: string = world.agent.key,
  ): Promise<SseReader> {
    const reply = await fetch(`${world.url}/akep/events/stream${query}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
    return new SseReader(reply, (frame) => frame);
  }

  /** The next event; other frames on the way are skipped. */
  async nextEvent(): Promise<EnvelopeWire | null> {
    for (let frame = await this.next(); frame !== null; frame = await this.next()) {
      if (frame.event === 'event') return JSON.parse(frame.data) as EnvelopeWire;
    }
    return null;
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
