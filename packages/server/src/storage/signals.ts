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
    return this.onEach([topic], wake);
  }

  /** The same for several topics. Thousands may wait, so all of them cost one function together. */
  onEach(topics: readonly Topic[], wake: Wake): () => void {
    for (const topic of topics) this.#add(topic, wake);
    return () => {
      for (const topic of topics) this.#remove(topic, wake);
    };
  }

  #add(topic: Topic, wake: Wake): void {
    const waiting = this.#byTopic.get(topic);
    if (waiting !== undefined) return void waiting.add(wake);
    this.#byTopic.set(topic, new Set([wake]));
    if (hasSubject(topic) && ++this.#subjects === 1) this.#attended(true);
  }

  #remove(topic: Topic, wake: Wake): void {
    const waiting = this.#byTopic.get(topic);
    if (!waiting?.delete(wake) || waiting.size > 0) return;
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
