import type { News, Topic } from '../core/store.ts';

type Wake = (about: ReadonlySet<string>) => void;
/** An object, because whoever waits is one anyway: for each of ten thousand laptops, a function would be one more. */
type Listener = { wake: Wake };

/** Wake-ups after a commit. On one machine they stay in the process; a store with replicas passes them on. */
export class Signals {
  /** A set only where several wait for the same: most laptops wait alone for their frames. */
  readonly #byTopic = new Map<Topic, Listener | Set<Listener>>();
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
      for (const listener of listenersIn(this.#byTopic.get(topic))) call(listener, about);
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
    const listener = { wake };
    this.join([topic], listener);
    return () => this.leave([topic], listener);
  }

  /** The same for several topics, until the listener leaves them. */
  join(topics: readonly Topic[], listener: Listener): void {
    for (const topic of topics) this.#add(topic, listener);
  }

  leave(topics: readonly Topic[], listener: Listener): void {
    for (const topic of topics) this.#remove(topic, listener);
  }

  #add(topic: Topic, listener: Listener): void {
    const waiting = this.#byTopic.get(topic);
    if (waiting instanceof Set) return void waiting.add(listener);
    this.#byTopic.set(topic, waiting === undefined ? listener : new Set([waiting, listener]));
    if (waiting === undefined && hasSubject(topic) && ++this.#subjects === 1) this.#attended(true);
  }

  #remove(topic: Topic, listener: Listener): void {
    const waiting = this.#byTopic.get(topic);
    const isLast =
      waiting instanceof Set ? waiting.delete(listener) && waiting.size === 0 : waiting === listener;
    if (!isLast) return;
    this.#byTopic.delete(topic);
    if (hasSubject(topic) && --this.#subjects === 0) this.#attended(false);
  }
}

/** As they are now: some leave or join while others are told. */
function listenersIn(waiting: Listener | Set<Listener> | undefined): readonly Listener[] {
  if (waiting === undefined) return [];
  return waiting instanceof Set ? [...waiting] : [waiting];
}

function hasSubject(topic: Topic): boolean {
  return topic.includes(':');
}

/** A listener that throws harms nobody: the commit stands, and the others are still told. */
function call(listener: Listener, about: ReadonlySet<string>): void {
  try {
    listener.wake(about);
  } catch (problem) {
    process.emitWarning(problem instanceof Error ? problem : String(problem));
  }
}
