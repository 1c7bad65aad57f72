/** What a slow line takes in a millisecond: half a megabit a second. */
const BYTES_A_MS = 64;

/** Gives up on a server that is silent for too long. One that speaks slowly is not: a megabyte may need minutes. */
export class Patience {
  readonly #gone = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** It may not speak before it has heard us out. */
  constructor(ms: number, bytesOut: number) {
    this.#ms = ms;
    this.#wait(ms + bytesOut / BYTES_A_MS);
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** All of an answer. */
  async read(response: Response): Promise<string> {
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      this.#wait(this.#ms);
      const piece = await reader?.read();
      if (piece?.value === undefined) return text + decoder.decode();
      text += decoder.decode(piece.value, { stream: true });
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.end();
    this.#timer = setTimeout(() => this.#gone.abort(), ms);
  }
}
