/**
 * For long work in pieces: each turn of the loop lets one piece through, whoever it belongs to. Otherwise a hundred who ask
 * for everything at once do a hundred pieces in each turn, and everybody else waits for those (W29).
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
