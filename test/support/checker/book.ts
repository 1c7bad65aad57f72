/** What became of something that was asked for. `unknown`: no answer came, or one that promises nothing. */
export type Asked = {
  readonly status: string;
  readonly feedback: string;
  reply: 'held' | 'decided' | 'refused' | 'unknown';
  /** Whether its undoing was asked for. */
  undone: 'no' | 'acknowledged' | 'unknown';
};

/** A delivery, from the side of those who sent and answered it. */
export type Entry = {
  readonly key: string;
  readonly body: Record<string, unknown>;
  /** The fault that was at work when it was first sent. */
  readonly fault: string;
  id: string | null;
  readonly asked: Asked[];
  busy: boolean;
};

export type SentEvent = { readonly id: string; readonly fault: string; accepted: boolean };

export type SentTask = {
  readonly messageId: string;
  readonly fault: string;
  id: string | null;
  busy: boolean;
};

/** One that follows the inbox by its own cursor, over every fault. */
export type Follower = { readonly path: string; cursor: string | null; readonly seen: string[] };

export type Polled = { readonly id: string; readonly text: string; readonly fault: string };

/** Everything that clients were promised and saw. It outlives every server. */
export class Book {
  readonly entries: Entry[] = [];
  readonly events: SentEvent[] = [];
  readonly tasks: SentTask[] = [];
  readonly followers: Follower[] = ['/akep/events', '/akep/events/wait'].map((path) => ({
    path,
    cursor: null,
    seen: [],
  }));
  readonly polled: Polled[] = [];
  /** The sweep's loop: the ids in the order they came, and where it stands. */
  readonly swept: { readonly id: string; readonly fault: string }[] = [];
  since: string | null = null;
  /** How often the agent was given each task. */
  readonly runs = new Map<string, number>();
  fault = 'nothing';
  #words = 0;
  #keys = 0;

  newEntry(callback: string | null, over: Record<string, unknown> = {}): Entry {
    this.#keys += 1;
    const n = this.#keys;
    const entry: Entry = {
      key: `key-${n}`,
      body: {
        headline: `Delivery ${n}`,
        details: { n, text: 'ä€😀' },
        ...(callback === null ? {} : { callback_webhook: callback }),
        ...over,
      },
      fault: this.fault,
      id: null,
      asked: [],
      busy: false,
    };
    this.entries.push(entry);
    return entry;
  }

  /** It was refused, and nothing was promised. */
  forget(entry: Entry): void {
    this.entries.splice(this.entries.indexOf(entry), 1);
  }

  newEvent(): SentEvent {
    const event = {
      id: `evt_${String(this.events.length).padStart(6, '0')}`,
      fault: this.fault,
      accepted: false,
    };
    this.events.push(event);
    return event;
  }

  newTask(): SentTask {
    const task = { messageId: `msg-${this.tasks.length}`, fault: this.fault, id: null, busy: false };
    this.tasks.push(task);
    return task;
  }

  /** Feedback that nobody else gave. */
  word(): string {
    this.#words += 1;
    return `word ${this.#words}.`;
  }

  /** Those that nobody has touched yet, as far as we know. */
  open(): Entry[] {
    return this.entries.filter((e) => e.id !== null && !e.busy && e.asked.length === 0);
  }

  held(): Entry[] {
    return this.entries.filter(
      (e) => !e.busy && e.asked.some((a) => a.reply === 'held' && a.undone === 'no'),
    );
  }
}

/** Those that got no answer yet. */
export function sendable<T extends { id: string | null }>(sent: readonly T[]): T[] {
  return sent.filter(({ id }) => id === null);
}
