import type { IncomingMessage } from 'node:http';
import type { Topic } from '../../core/store.ts';

export interface Listener {
  wake(about: ReadonlySet<string>): void;
}

export interface Wakeups {
  on(topic: Topic, wake: Listener['wake']): () => void;
  join(topics: readonly Topic[], listener: Listener): void;
  leave(topics: readonly Topic[], listener: Listener): void;
}

export type Wait = {
  /** What it waits for, and what says that its caller's credential may have ended. */
  topics: readonly Topic[];
  millis: number;
  /** Throws when its caller is not let in any more (W28). */
  admit(): Promise<unknown>;
};

export type Look<T> = () => Promise<{ found: boolean; value: T }>;

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
  until<T>({ socket }: IncomingMessage, wait: Wait, look: Look<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(wait, look);
      const end = () => waiter.end();
      const timer = setTimeout(end, Math.max(0, wait.millis));
      // Before the first look, so that an announcement during a look leads to another look.
      this.#wakeups.join(wait.topics, waiter);
      // Not `once`, which allocates three more objects for each waiting request. Who closes only their side is answered,
      // but not waited for (W30): they may have left altogether.
      socket.on('close', end).on('end', end);
      this.#parked.add(end);
      if (this.#draining || socket.readableEnded) end();
      waiter.begin((answer) => {
        clearTimeout(timer);
        this.#wakeups.leave(wait.topics, waiter);
        this.#parked.delete(end);
        socket.off('close', end).off('end', end);
        answer.then(resolve, reject);
      });
    });
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
}

/**
 * A request that waits: woken when there may be something, ended when its time is up. No function of it is suspended
 * meanwhile, because thousands may be parked and a suspended one costs as much as all the rest of them.
 */
class Waiter<T> implements Listener {
  readonly #wait: Wait;
  readonly #look: Look<T>;
  #leave = (_: Promise<T>) => {};
  #hasLooked = false;
  #isLooking = true;
  #isCalled = false;
  #isOver = false;

  constructor(wait: Wait, look: Look<T>) {
    this.#wait = wait;
    this.#look = look;
  }

  /** The first look; `leave` is called once, with the answer. */
  begin(leave: (answer: Promise<T>) => void): void {
    this.#leave = leave;
    void this.#lookUntilQuiet();
  }

  wake(): void {
    this.#isCalled = true;
    if (!this.#isLooking) void this.#lookUntilQuiet();
  }

  end(): void {
    this.#isOver = true;
    this.wake();
  }

  async #lookUntilQuiet(): Promise<void> {
    this.#isLooking = true;
    try {
      do {
        this.#isCalled = false;
        const isLast = this.#isOver;
        const { found, value } = await this.#lookOnce();
        if (found || isLast) return this.#leave(Promise.resolve(value));
      } while (this.#isCalled);
      this.#isLooking = false;
    } catch (reason) {
      this.#leave(Promise.reject(reason));
    }
  }

  async #lookOnce() {
    const seen = await this.#look();
    // After the look: whoever was shut out before the news came is not told it.
    if (this.#hasLooked) await this.#wait.admit();
    this.#hasLooked = true;
    return seen;
  }
}
