import type { IncomingMessage } from 'node:http';
import type { Topic } from '../core/store.ts';

export interface Wakeups {
  on(topic: Topic, wake: (about: ReadonlySet<string>) => void): () => void;
}

/**
 * Long-polls wait here. A parked request costs a timer and two listeners; it is let go when its topic is
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
    wait: { topic: Topic; millis: number },
    look: () => Promise<{ found: boolean; value: T }>,
  ): Promise<T> {
    const deadline = performance.now() + wait.millis;
    for (;;) {
      // Listening starts before the look: what is announced in between wakes us as well.
      const parked = this.#park(request, wait.topic, deadline - performance.now());
      const seen = await look();
      if (seen.found) {
        parked.leave();
        return seen.value;
      }
      if (!(await parked.woken)) return (await look()).value;
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

  #park(request: IncomingMessage, topic: Topic, millis: number) {
    let leave = () => {};
    const woken = new Promise<boolean>((resolve) => {
      const end = (byTopic: boolean) => {
        clearTimeout(timer);
        off();
        this.#parked.delete(leave);
        request.socket.off('close', leave);
        resolve(byTopic);
      };
      leave = () => end(false);
      const off = this.#wakeups.on(topic, () => end(true));
      const timer = setTimeout(leave, Math.max(0, millis));
      request.socket.once('close', leave);
      this.#parked.add(leave);
      if (this.#draining) leave();
    });
    return { woken, leave: () => leave() };
  }
}
