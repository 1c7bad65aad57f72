type Ask<T> = (result: IteratorResult<T, undefined>) => void;

/** Hands things to an iteration, and only when it asks for one: until then nothing counts as begun. */
export class Offers<T> implements AsyncIterableIterator<T> {
  readonly #asking: { readonly give: Ask<T>; readonly fail: (error: unknown) => void }[] = [];
  readonly #offering: ((give: ((one: T) => void) | null) => void)[] = [];
  #ended: { readonly error: unknown } | null = null;

  /** Resolves with a function that hands one thing over, once somebody asks for it; with null when nobody will. */
  offer(signal: AbortSignal): Promise<((one: T) => void) | null> {
    return new Promise((resolve) => {
      this.#offering.push(resolve);
      const takeBack = () => {
        const at = this.#offering.indexOf(resolve);
        if (at >= 0) this.#offering.splice(at, 1);
        resolve(null);
      };
      signal.addEventListener('abort', takeBack, { once: true });
      this.#match();
    });
  }

  /** Ends the iteration, with an error if there is one. */
  close(error: unknown = null): void {
    this.#ended ??= { error };
    this.#match();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((give, fail) => {
      this.#asking.push({ give, fail });
      this.#match();
    });
  }

  #match(): void {
    if (this.#ended !== null) this.#sendAway(this.#ended.error);
    while (this.#asking.length > 0 && this.#offering.length > 0) {
      const ask = this.#asking.shift();
      this.#offering.shift()?.((value) => ask?.give({ value, done: false }));
    }
  }

  #sendAway(error: unknown): void {
    for (const resolve of this.#offering.splice(0)) resolve(null);
    for (const { give, fail } of this.#asking.splice(0)) {
      if (error === null) give({ value: undefined, done: true });
      else fail(error);
    }
  }
}
