import type { BatchRunner, Done, Queue, Unit } from '../batch.ts';

/** Who may write now. SQLite has one writer, and waiting for its lock blocks a whole thread; here only a batch waits. */
export interface Turns {
  take(): Promise<void>;
  give(): void;
}

/** Runs each batch in its turn. */
export class InTurns implements BatchRunner {
  readonly #runner: BatchRunner;
  readonly #turns: Turns;

  constructor(runner: BatchRunner, turns: Turns) {
    this.#runner = runner;
    this.#turns = turns;
  }

  async commit(units: readonly Unit[], queue: Queue): Promise<Done[]> {
    await this.#turns.take();
    try {
      return await this.#runner.commit(units, queue);
    } finally {
      this.#turns.give();
    }
  }
}

/** The side of the thread that nearly always writes: it holds the turn, and lends it on request. */
export class LendingTurns implements Turns {
  readonly #lend: () => void;
  #busy = false;
  #asked = false;
  #lent: { back: Promise<void>; end: () => void } | null = null;

  /** `lend` tells the other side that its turn has come. */
  constructor(lend: () => void) {
    this.#lend = lend;
  }

  async take(): Promise<void> {
    while (this.#lent !== null) await this.#lent.back;
    this.#busy = true;
  }

  give(): void {
    this.#busy = false;
    if (this.#asked) this.#handOver();
  }

  asked(): void {
    this.#asked = true;
    if (!this.#busy) this.#handOver();
  }

  returned(): void {
    this.#lent?.end();
    this.#lent = null;
  }

  #handOver(): void {
    this.#asked = false;
    let end = () => {};
    const back = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#lent = { back, end };
    this.#lend();
  }
}

/** The side that asks. While there is no lender, it is always its turn. */
export class BorrowedTurns implements Turns {
  #lender: { ask(): void; giveBack(): void } | null = null;
  #borrowed = false;
  #granted = () => {};

  /** Only between turns: the caller makes sure that nothing is being written. */
  setLender(lender: { ask(): void; giveBack(): void } | null): void {
    this.#lender = lender;
    // When the lender is gone, pending requests are granted.
    if (lender === null) {
      this.#borrowed = false;
      this.#granted();
    }
  }

  async take(): Promise<void> {
    if (this.#lender === null) return;
    const granted = new Promise<void>((resolve) => {
      this.#granted = resolve;
    });
    this.#borrowed = true;
    this.#lender.ask();
    await granted;
  }

  give(): void {
    if (this.#borrowed) this.#lender?.giveBack();
    this.#borrowed = false;
  }

  granted(): void {
    this.#granted();
  }
}
