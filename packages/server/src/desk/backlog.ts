/** How many names are kept for a reader who is behind; beyond that, one word stands for all. */
const MOST = 200;

/** Sent in place of names: the reader looks at everything again. */
export const EVERYTHING = 'everything';

/**
 * What a reader has not been told yet. A name is told once however often it changed, and a reader who falls far
 * behind is told a single word, so that slow readers cost no memory.
 */
export class Backlog {
  readonly #send: (about: string) => Promise<void>;
  #waiting = new Set<string>();
  #isSending = false;

  /** `send` resolves when the reader can take more, or has gone. */
  constructor(send: (about: string) => Promise<void>) {
    this.#send = send;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(about: Iterable<string>): void {
    if (!this.#waiting.has(EVERYTHING)) for (const name of about) this.#waiting.add(name);
    if (this.#waiting.size > MOST || this.#waiting.has(EVERYTHING)) this.#waiting = new Set([EVERYTHING]);
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let name = this.#next(); name !== undefined; name = this.#next()) await this.#send(name);
    this.#isSending = false;
  }

  #next(): string | undefined {
    const [name] = this.#waiting;
    if (name !== undefined) this.#waiting.delete(name);
    return name;
  }
}
