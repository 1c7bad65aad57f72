import type { IncomingMessage } from 'node:http';
import type { Topic } from '../../core/store.ts';

export interface Wakeups {
  on(topic: Topic, wake: (about: ReadonlySet<string>) => void): () => void;
  onEach(topics: readonly Topic[], wake: () => void): () => void;
}

export type Wait = {
  /** What it waits for, and what says that its caller's credential may have ended. */
  topics: readonly Topic[];
  millis: number;
  /** Throws when its caller is not let in any more (W28). */
  admit(): Promise<unknown>;
};

/**
 * Long-polls wait here. A parked request costs a timer and a few listeners; it is released when one of its topics is
 * announced, its time is up, its caller has gone, or the server drains.
 */
export class Parking {
  readonly #wakeups: Wakeups;
  readonly #parked = new Set<() => void>();
  #draining = false;

  constructor(wakeups: Wakeups) {
    this.#wakeups = wakeups;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** Asks `look` again after each wake-up until it finds something, or answers with what it saw last. */
  async until<T>(
    request: IncomingMessage,
    wait: Wait,
    look: () => Promise<{ found: boolean; value: T }>,
  ): Promise<T> {
    // Listens before the first look and until the end, so that an announcement during a look leads to another look.
    const { waiter, leave } = this.#park(request, wait);
    try {
      for (let hasWaited = false; ; hasWaited = true) {
        const isLast = waiter.next();
        const seen = await look();
        // After the look: whoever was shut out before the news came is not told it.
        if (hasWaited) await wait.admit();
        if (seen.found || isLast) return seen.value;
        await waiter.called();
      }
    } finally {
      leave();
    }
  }

  /** Calls `leave` when the server drains, until the returned function is called. */
  onDrain(leave: () => void): () => void {
    this.#parked.add(leave);
    if (this.#draining) leave();
    return () => void this.#parked.delete(leave);
  }

  drain(): void {
    this.#draining = true;
    for (const leave of [...this.#parked]) leave();
  }

  #park(request: IncomingMessage, { topics, millis }: Wait) {
    const waiter = new Waiter();
    const end = () => waiter.end();
    const off = this.#wakeups.onEach(topics, () => waiter.call());
    const timer = setTimeout(end, Math.max(0, millis));
    const { socket } = request;
    // Not `once`, which allocates three more objects for each waiting request. Who closes only their side is answered,
    // but not waited for (W30): they may have left altogether.
    socket.on('close', end).on('end', end);
    this.#parked.add(end);
    if (this.#draining || socket.readableEnded) end();
    const leave = () => {
      clearTimeout(timer);
      off();
      this.#parked.delete(end);
      socket.off('close', end).off('end', end);
    };
    return { waiter, leave };
  }
}

/** A request that waits: woken when there may be something, ended when its time is up. */
class Waiter {
  #isCalled = false;
  #isOver = false;
  #wake = () => {};

  /** Clears earlier wake-ups, because a look follows now; true if it is the last one. */
  next(): boolean {
    this.#isCalled = false;
    return this.#isOver;
  }

  called(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isCalled || this.#isOver) resolve();
    });
  }

  call(): void {
    this.#isCalled = true;
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }
}
