import type { News, Topic } from '../core/store.ts';

type Wake = (about: ReadonlySet<string>) => void;

/** Wake-ups after a commit. On one machine they stay in the process; a store with replicas passes them on. */
export class Signals {
  readonly #byTopic = new Map<Topic, Set<Wake>>();

  readonly #toAll = new Set<(news: News) => void>();

  #subjects = 0;
  #attended = (_: boolean) => {};

  /**
   * Calls `hear` when the first comes who waits for something of somebody, and when the last has gone. The server's own
   * workers do not count: they also look by the clock.
   */
  onAttended(hear: (isAttended: boolean) => void): void {
    this.#attended = hear;
    hear(this.#subjects > 0);
  }

  /** For those who follow everything, in all spaces. */
  onAny(hear: (news: News) => void): () => void {
    this.#toAll.add(hear);
    return () => this.#toAll.delete(hear);
  }

  tell(news: News): void {
    for (const hear of this.#toAll) hear(news);
    for (const [topic, about] of news) {
      const waiting = this.#byTopic.get(topic);
      if (waiting !== undefined) for (const wake of [...waiting]) call(wake, about);
    }
  }

  /** The topics that somebody is waiting for right now. */
  topics(): Topic[] {
    return [...this.#byTopic.keys()];
  }

  /** For when something happened and nobody knows what: all who wait look again. */
  everything(): News {
    return new Map(this.topics().map((topic) => [topic, new Set([''])]));
  }

  /** Calls `wake` after each commit that announced the topic, until the returned function is called. */
  on(topic: Topic, wake: Wake): () => void {
    const waiting = this.#byTopic.get(topic) ?? new Set();
    waiting.add(wake);
    if (!this.#byTopic.has(topic)) this.#keep(topic, waiting);
    return () => {
      waiting.delete(wake);
      if (waiting.size === 0 && this.#byTopic.get(topic) === waiting) this.#drop(topic);
    };
  }

  #keep(topic: Topic, waiting: Set<Wake>): void {
    this.#byTopic.set(topic, waiting);
    if (hasSubject(topic) && ++this.#subjects === 1) this.#attended(true);
  }

  #drop(topic: Topic): void {
    this.#byTopic.delete(topic);
    if (hasSubject(topic) && --this.#subjects === 0) this.#attended(false);
  }
}

function hasSubject(topic: Topic): boolean {
  return topic.includes(':');
}

/** A listener that throws harms nobody: the commit stands, and the others are still told. */
function call(wake: Wake, about: ReadonlySet<string>): void {
  try {
    wake(about);
  } catch (problem) {
    process.emitWarning(problem instanceof Error ? problem : String(problem));
  }
}
