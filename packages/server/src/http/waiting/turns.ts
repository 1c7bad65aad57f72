/**
 * For long work in pieces: each turn of the event loop does one piece, whoever it belongs to. Otherwise a hundred
 * callers who ask for everything at once would do a hundred pieces per turn, and everybody else would wait (W29).
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
