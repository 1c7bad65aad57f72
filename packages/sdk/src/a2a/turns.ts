/** Waiting and running turns: a limited number at a time, and one at a time within a context (A15). */
export class Turns<T> {
  readonly #concurrency: number;
  readonly #run: (turn: T) => Promise<void>;
  readonly #waiting: { readonly context: string; readonly turn: T }[] = [];
  readonly #busy = new Set<string>();
  #isPaused = false;
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(concurrency: number, run: (turn: T) => Promise<void>) {
    this.#concurrency = concurrency;
    this.#run = run;
  }

  add(context: string, turn: T): void {
    this.#waiting.push({ context, turn });
    this.#next();
  }

  /** Removes the waiting turns that match; running ones go on. */
  remove(fits: (turn: T) => boolean): T[] {
    const removed: T[] = [];
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      const one = this.#waiting[at];
      if (one === undefined || !fits(one.turn)) continue;
      removed.unshift(one.turn);
      this.#waiting.splice(at, 1);
    }
    return removed;
  }

  /** Begins nothing more. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    while (!this.#isPaused && this.#running < this.#concurrency) {
      const at = this.#waiting.findIndex(({ context }) => !this.#busy.has(context));
      const [one] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (one === undefined) return;
      this.#running += 1;
      this.#busy.add(one.context);
      void this.#run(one.turn).finally(() => this.#ended(one.context));
    }
  }

  #ended(context: string): void {
    this.#running -= 1;
    this.#busy.delete(context);
    this.#next();
    if (this.#running > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}
