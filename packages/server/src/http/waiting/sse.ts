import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

export const HEARTBEAT_SECONDS = 15;
const MOST_STALLED_SECONDS = 60;

/** Without `event` it is a plain message. */
export type SseMessage = { event?: string; data: string; id?: string };

const RECONNECT = 'event: reconnect\ndata: {}\n\n';
/** No blank line after it: behind an id, common clients (httpx-sse) would take that for an event without data. */
const STILL_HERE = ':\n';

export type SseManner = {
  /** The last message to a reader: to come back, unless the protocol has another way. */
  farewell?: string;
  /** Sent while nothing happens. Pages cannot see SSE comments, so one that must know of it asks for an event. */
  beat?: string;
  beatSeconds?: number;
};

/** Server-Sent Events: the transport, which knows no protocol. */
export class SseStream {
  readonly #raw: ServerResponse;
  readonly #beat: NodeJS.Timeout;
  readonly #farewell: string;
  readonly #stillHere: string;
  readonly #mostStalled: number;
  #open = true;
  #beatsStalled = 0;

  constructor(reply: FastifyReply, onClose: () => void, manner: SseManner = {}) {
    const { farewell = RECONNECT, beat = STILL_HERE, beatSeconds = HEARTBEAT_SECONDS } = manner;
    this.#farewell = farewell;
    this.#stillHere = beat;
    this.#mostStalled = MOST_STALLED_SECONDS / beatSeconds;
    reply.hijack();
    this.#raw = reply.raw;
    this.#raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    // The first event follows without a blank line, for the same reason.
    this.#raw.write('retry: 2000\n');
    this.#raw.on('drain', () => {
      this.#beatsStalled = 0;
    });
    this.#beat = setInterval(() => this.beat(), beatSeconds * 1000);
    const gone = () => {
      this.#open = false;
      clearInterval(this.#beat);
      onClose();
    };
    this.#raw.on('close', gone);
    // A reader who left before this has closed already, and no further event would say so.
    if (this.#raw.destroyed) process.nextTick(gone);
  }

  /**
   * Shows that we are alive. A reader who has taken nothing for a minute of beats is disconnected: it can come back
   * and resume.
   */
  beat(): void {
    this.#beatsStalled = this.#raw.writableNeedDrain ? this.#beatsStalled + 1 : 0;
    if (this.#beatsStalled >= this.#mostStalled) this.#raw.destroy();
    else if (this.#beatsStalled === 0) this.#raw.write(this.#stillHere);
  }

  get closed(): boolean {
    return !this.#open;
  }

  /** False when the reader is slower than we write. */
  send(message: SseMessage): boolean {
    if (!this.#open) return true;
    const id = message.id === undefined ? '' : `id: ${message.id}\n`;
    // A lone carriage return ends a line here as well.
    const data = message.data.replace(/\r\n|\r|\n/g, '\ndata: ');
    const event = message.event === undefined ? '' : `event: ${message.event}\n`;
    return this.#raw.write(`${id}${event}data: ${data}\n\n`);
  }

  /** Resolves when the reader can take more, or has gone. */
  async sendWhenReady(message: SseMessage): Promise<void> {
    if (!this.send(message)) await this.#drained();
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#raw.off('drain', done).off('close', done);
        resolve();
      };
      this.#raw.on('drain', done).on('close', done);
    });
  }

  /** Ends with a hint to come back soon: another replica, or this one after its restart, will answer. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    clearInterval(this.#beat);
    this.#raw.end(this.#farewell);
  }
}

/** The open streams of a server, so that a shutdown can end them. */
export class Streams {
  readonly #open = new Set<SseStream>();
  #closing = false;

  open(reply: FastifyReply, onClose: () => void, manner?: SseManner): SseStream {
    const stream = new SseStream(
      reply,
      () => {
        this.#open.delete(stream);
        onClose();
      },
      manner,
    );
    this.#open.add(stream);
    // It was opened while we were already stopping.
    if (this.#closing) stream.close();
    return stream;
  }

  get size(): number {
    return this.#open.size;
  }

  closeAll(): void {
    this.#closing = true;
    for (const stream of this.#open) stream.close();
  }
}
