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
  readonly #parked = new Set<Leaving>();
  #draining = false;

  constructor(wakeups: Wakeups) {
    this.#wakeups = wakeups;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** Asks `look` again after each wake-up until it finds something, or answers with what it saw last. */
  until<T>({ socket }: IncomingMessage, wait: Wait, look: Look<T>): Promise<T> {
    const waiter = new Waiter<T>();
    const end = () => waiter.end();
    const timer = setTimeout(end, Math.max(0, wait.millis));
    // Before the first look, so that an announcement during a look leads to another look.
    this.#wakeups.join(wait.topics, waiter);
    // Not `once`, which allocates three more objects for each waiting request. Who closes only their side is answered,
    // but not waited for (W30): they may have left altogether.
    socket.on('close', end).on('end', end);
    this.#parked.add(waiter);
    if (this.#draining || socket.readableEnded) end();
    return new Promise((resolve) => {
      const leave = (answer: Promise<T>) => {
        clearTimeout(timer);
        this.#wakeups.leave(wait.topics, waiter);
        this.#parked.delete(waiter);
        socket.off('close', end).off('end', end);
        resolve(answer);
      };
      waiter.begin({ look, admit: wait.admit, leave });
    });
  }

  /** Calls `end` when the server drains, until the returned function is called. */
  onDrain(end: () => void): () => void {
    const leaving = { end };
    this.#parked.add(leaving);
    if (this.#draining) end();
    return () => void this.#parked.delete(leaving);
  }

  drain(): void {
    this.#draining = true;
    for (const leaving of [...this.#parked]) leaving.end();
  }
}

type Leaving = { end(): void };

/** What a request waits with; `leave` is called once, with its answer. */
type Waiting<T> = { look: Look<T>; admit: Wait['admit']; leave(answer: Promise<T>): void };

/**
 * A request that waits: woken when there may be something, ended when its time is up. No function of it is suspended
 * meanwhile: thousands may be parked, and a suspended one costs as much as all the rest of them. It lets go of
 * everything with its answer (ARCHITECTURE.md, "Doors and clocks").
 */
class Waiter<T> implements Listener {
  #waiting: Waiting<T> | null = null;
  #hasLooked = false;
  #isLooking = false;
  #isCalled = false;
  #isOver = false;

  begin(waiting: Waiting<T>): void {
    this.#waiting = waiting;
    void this.#lookUntilQuiet(waiting);
  }

  wake(): void {
    this.#isCalled = true;
    if (this.#waiting !== null && !this.#isLooking) void this.#lookUntilQuiet(this.#waiting);
  }

  end(): void {
    this.#isOver = true;
    this.wake();
  }

  async #lookUntilQuiet(waiting: Waiting<T>): Promise<void> {
    this.#isLooking = true;
    try {
      do {
        this.#isCalled = false;
        const isLast = this.#isOver;
        const { found, value } = await this.#look(waiting);
        if (found || isLast) return this.#leave(waiting, Promise.resolve(value));
      } while (this.#isCalled);
      this.#isLooking = false;
    } catch (reason) {
      this.#leave(waiting, Promise.reject(reason));
    }
  }

  async #look({ look, admit }: Waiting<T>) {
    const seen = await look();
    // After the look: whoever was shut out before the news came is not told it.
    if (this.#hasLooked) await admit();
    this.#hasLooked = true;
    return seen;
  }

  #leave({ leave }: Waiting<T>, answer: Promise<T>): void {
    this.#waiting = null;
    leave(answer);
  }
}
