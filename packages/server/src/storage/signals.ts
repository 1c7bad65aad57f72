import type { News, Topic } from '../core/store.ts';

type Wake = (about: ReadonlySet<string>) => void;

/** Wake-ups after a commit. On one machine they stay in the process; a store with replicas passes them on. */
export class Signals {
  readonly #byTopic = new Map<Topic, Set<Wake>>();

  readonly #toAll = new Set<(news: News) => void>();

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
    this.#byTopic.set(topic, waiting);
    return () => {
      waiting.delete(wake);
      if (waiting.size === 0 && this.#byTopic.get(topic) === waiting) this.#byTopic.delete(topic);
    };
  }
}

/** A listener that throws harms nobody: the commit stands, and the others are still told. */
function call(wake: Wake, about: ReadonlySet<string>): void {
  try {
    wake(about);
  } catch (problem) {
    process.emitWarning(problem instanceof Error ? problem : String(problem));
  }
}
