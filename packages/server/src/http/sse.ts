import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

const HEARTBEAT_MS = 15_000;

export type SseMessage = { event: string; data: string; id?: string };

/** Server-Sent Events: the transport, which knows no protocol. */
export class SseStream {
  readonly #raw: ServerResponse;
  readonly #beat: NodeJS.Timeout;
  #open = true;

  constructor(reply: FastifyReply, onClose: () => void) {
    reply.hijack();
    this.#raw = reply.raw;
    this.#raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.#raw.write('retry: 2000\n\n');
    this.#beat = setInterval(() => this.#raw.write(': still here\n\n'), HEARTBEAT_MS);
    this.#raw.on('close', () => {
      this.#open = false;
      clearInterval(this.#beat);
      onClose();
    });
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
    return this.#raw.write(`${id}event: ${message.event}\ndata: ${data}\n\n`);
  }

  /** Kept when the reader can take more, or has gone. */
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

  /** Ends with a hint to come back soon: somebody else, or we again, will answer. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    clearInterval(this.#beat);
    this.#raw.end('event: reconnect\ndata: {}\n\n');
  }
}

/** The open streams of a server, so that a shutdown can end them. */
export class Streams {
  readonly #open = new Set<SseStream>();
  #closing = false;

  open(reply: FastifyReply, onClose: () => void): SseStream {
    const stream = new SseStream(reply, () => {
      this.#open.delete(stream);
      onClose();
    });
    this.#open.add(stream);
    // One that was opened while we were already stopping.
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
