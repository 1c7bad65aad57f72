import type { Receiver } from '../support/receiver.ts';

export type Asked = {
  status: string;
  /** Unique: wherever this text appears, this decision has arrived. */
  feedback: string;
  edited_content: unknown;
  /** What the server said to it; `unknown` when it was killed before it could. */
  reply: 'held' | 'decided' | 'refused' | 'unknown';
};

/** One delivery as its senders remember it. */
export type Entry = {
  key: string;
  body: Record<string, unknown>;
  /** Null until a reply has told. */
  id: string | null;
  asked: Asked[];
  undone: 'no' | 'acknowledged' | 'unknown';
  withdrawn: 'no' | 'acknowledged' | 'unknown';
  /** One at a time does something with it; two deciders at once are one something. */
  busy: boolean;
};

/** What the clients of the server were told: everything in here must be true after any crash. */
export class Notebook {
  readonly entries: Entry[] = [];
  /** What the sweep loop has dispatched, in order; it continues from `since`. */
  readonly swept: { id: string; page: string }[] = [];
  since: string | null = null;
  /** Answers as polls have seen them. */
  readonly polled: { id: string; text: string }[] = [];
  readonly receiver: Receiver;
  #words = 0;

  constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  word(): string {
    return `word-${++this.#words}-end`;
  }

  newEntry(withCallback: boolean): Entry {
    const n = this.entries.length + 1;
    const callback = withCallback ? { callback_webhook: `${this.receiver.origin}/callback` } : {};
    const entry: Entry = {
      key: `key-${n}`,
      body: { headline: `Delivery ${n}`, details: { n, text: 'ä€😀' }, ...callback },
      id: null,
      asked: [],
      undone: 'no',
      withdrawn: 'no',
      busy: false,
    };
    this.entries.push(entry);
    return entry;
  }

  /** Those that nobody has touched yet, as far as we know. */
  open(): Entry[] {
    return this.entries.filter(
      (e) => e.id !== null && !e.busy && e.asked.length === 0 && e.withdrawn === 'no',
    );
  }

  held(): Entry[] {
    return this.entries.filter(
      (e) => !e.busy && e.undone === 'no' && e.asked.some((a) => a.reply === 'held'),
    );
  }
}
