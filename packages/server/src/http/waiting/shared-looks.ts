import type { Topic } from '../../core/store.ts';
import type { Wakeups } from './park.ts';

/**
 * The same question asked by many in one turn of the event loop is asked of the store once. The answer is forgotten
 * at the end of the turn, or as soon as its topic is announced: a look after a commit never gets what was there
 * before it.
 */
export class SharedLooks<T> {
  readonly #wakeups: Wakeups;
  #ofThisTurn = new Map<string, Promise<T>>();
  #watched = new Map<Topic, () => void>();

  constructor(wakeups: Wakeups) {
    this.#wakeups = wakeups;
  }

  ask(topic: Topic, name: string, look: () => Promise<T>): Promise<T> {
    const key = `${topic}\n${name}`;
    let answer = this.#ofThisTurn.get(key);
    if (answer === undefined) {
      if (this.#ofThisTurn.size === 0) setImmediate(() => this.#forget());
      if (!this.#watched.has(topic))
        this.#watched.set(
          topic,
          this.#wakeups.on(topic, () => this.#forget()),
        );
      answer = look();
      this.#ofThisTurn.set(key, answer);
    }
    return answer;
  }

  #forget(): void {
    for (const off of this.#watched.values()) off();
    this.#ofThisTurn = new Map();
    this.#watched = new Map();
  }
}
