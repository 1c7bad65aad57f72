/** Looks again whenever there may be news, and sleeps in between. News that comes during a look is not missed. */
export class Watch {
  #woken = false;
  #wake = () => {};

  /** `look` says whether it found anything: then there may be more. */
  async run(look: () => Promise<boolean>, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#woken = false;
      if (!(await look())) await this.#news(isOver);
    }
  }

  /** There is news, or the receiver has gone: look again. */
  nudge(): void {
    this.#woken = true;
    this.#wake();
  }

  #news(isOver: () => boolean): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#woken || isOver()) resolve();
    });
  }
}
