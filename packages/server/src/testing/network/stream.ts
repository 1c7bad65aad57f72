import { onTestFinished } from 'vitest';

/** One event as it was sent; without a name it is a `message`. */
export type Frame = { event: string; id: string | null; data: string };

/**
 * Reads Server-Sent Events one by one, and turns each into a value with `read`. Comments and retry hints are skipped.
 */
export class EventStream<T> {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #read: (frame: Frame) => T;
  #buffer = '';
  /** The last id that was sent, which also holds for events without one. */
  lastId: string | null = null;

  constructor({ body, headers, status }: Response, read: (frame: Frame) => T) {
    if (body === null || !headers.get('content-type')?.startsWith('text/event-stream'))
      throw new Error(`no stream: ${status}`);
    const text = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, never>);
    this.#reader = text.getReader();
    this.#read = read;
    onTestFinished(() => this.leave().catch(() => {}));
  }

  /** The next event; null when the stream has ended. */
  async next(): Promise<T | null> {
    for (;;) {
      const frame = this.#take();
      if (frame !== null) return this.#read(frame);
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#buffer += value;
    }
  }

  /** Everything up to the end. */
  async rest(): Promise<T[]> {
    const events: T[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }

  /** Hangs up, as when a reader goes away in the middle. */
  leave(): Promise<void> {
    return this.#reader.cancel();
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
}

export type StreamEvent = { event: string; data: unknown };

/** The desk's stream: every event has a name, and JSON. */
export class StreamReader extends EventStream<StreamEvent> {
  static async open(reply: Promise<Response>): Promise<StreamReader> {
    return new StreamReader(await reply, ({ event, data }) => ({ event, data: JSON.parse(data) }));
  }
}
