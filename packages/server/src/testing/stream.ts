import { onTestFinished } from 'vitest';

export type StreamEvent = { event: string; data: unknown };

/** Reads Server-Sent Events one by one. */
export class StreamReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #buffer = '';

  private constructor(reader: ReadableStreamDefaultReader<string>) {
    this.#reader = reader;
  }

  static async open(reply: Promise<Response>): Promise<StreamReader> {
    const { body, status } = await reply;
    if (body === null || status !== 200) throw new Error(`no stream: ${status}`);
    const reader = body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, never>)
      .getReader();
    onTestFinished(() => reader.cancel().catch(() => {}));
    return new StreamReader(reader);
  }

  /** The next event; null when the stream has ended. Comments and hints about retrying are passed over. */
  async next(): Promise<StreamEvent | null> {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        const event = /^event: (.*)$/m.exec(block)?.[1];
        if (event !== undefined)
          return { event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null') };
        continue;
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#buffer += value;
    }
  }

  /** Everything up to the end. */
  async rest(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }
}
