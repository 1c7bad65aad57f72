/** Work that may be asked for at any moment and never runs twice at once: asked for while it runs, it runs once more. */
export class OneAtATime {
  #isRunning = false;
  #isWanted = false;

  /** Resolves at once when it is already running: what was asked for is then done by the one who runs it. */
  async run(work: () => Promise<void>): Promise<void> {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await work();
      }
    } finally {
      // Synchronously after the last look at `#isWanted`: a request in between would be lost.
      this.#isRunning = false;
    }
  }
}
