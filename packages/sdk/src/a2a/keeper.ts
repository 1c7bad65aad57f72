import { Book, type Entry } from './book.ts';
import type { AgentFrame, WorkFrame } from './frames.ts';
import type { TaskJournal } from './journal.ts';

/** With more than this unacknowledged, sending has to wait: the hub may be away for a whole night. */
const UNACKNOWLEDGED_MOST = 4 * 1024 * 1024;
/** After this many lines, the journal is rewritten with what still matters. */
const LINES_MOST = 50_000;

export interface KeeperParts {
  readonly journal: TaskJournal;
  /** Rejects with fault `aborted` when the signal fires. */
  readonly pause: (attempt: number, signal: AbortSignal) => Promise<void>;
  readonly trouble: (error: unknown) => void;
}

/** Keeps book and journal in step: an entry reaches the journal first. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #journal: TaskJournal;
  readonly #leaving = new AbortController();
  readonly #sizes = new Map<string, number>();
  #book = new Book();
  #lines = 0;
  #bytes = 0;
  #underWay = 0;
  #rewriting: Promise<void> | null = null;
  #relieved: (() => void)[] = [];

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#journal = parts.journal;
  }

  get book(): Book {
    return this.#book;
  }

  get isDurable(): boolean {
    return this.#journal.isDurable;
  }

  async open(): Promise<void> {
    this.#book = Book.from(await this.#journal.open());
    for (const frame of this.#book.outbox.values()) this.#weigh(frame);
    await this.#rewrite();
  }

  /** Stops waiting for what cannot be written now: the next process finds it undone. */
  hurry(): void {
    this.#leaving.abort();
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  linked(id: string): Promise<void> {
    return this.#write([{ entry: 'linked', id }]);
  }

  take(frame: WorkFrame): Promise<void> {
    return this.#write([{ entry: 'taken', frame }]);
  }

  begin(turn: string): Promise<void> {
    return this.#write([{ entry: 'begun', turn }]);
  }

  /** Keeps the frame until it is acknowledged; the last frame of a turn ends the turn. */
  async say(turn: string, frame: AgentFrame, isLast: boolean): Promise<void> {
    const out: Entry = { entry: 'out', turn, frame };
    await this.#write(isLast ? [out, { entry: 'ended', turn }] : [out]);
    this.#weigh(frame);
  }

  end(turn: string): Promise<void> {
    return this.#write([{ entry: 'ended', turn }]);
  }

  /** Resolves when there is room for more. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#bytes > UNACKNOWLEDGED_MOST && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const goOn = () => {
          signal.removeEventListener('abort', goOn);
          resolve();
        };
        this.#relieved.push(goOn);
        signal.addEventListener('abort', goOn, { once: true });
      });
    }
  }

  /** Resolves when everything that was said is acknowledged. */
  async quiet(): Promise<void> {
    while (this.#book.outbox.size > 0) await new Promise<void>((resolve) => this.#relieved.push(resolve));
  }

  /** The frame that this acknowledges, or null for a second acknowledgement. */
  acknowledged(id: string): AgentFrame | null {
    const frame = this.#book.outbox.get(id);
    if (frame === undefined || !this.#sizes.has(id)) return null;
    this.#bytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
    // Not awaited: if the line is lost, the frame is sent once more and recognised by its id.
    void this.#write([{ entry: 'acked', id }]).then(
      () => this.#relieve(),
      () => this.#relieve(),
    );
    return frame;
  }

  #relieve(): void {
    const relieved = this.#relieved;
    this.#relieved = [];
    for (const resolve of relieved) resolve();
  }

  #weigh(frame: AgentFrame): void {
    // Only artifacts weigh enough to matter.
    const size = frame.type === 'artifact' ? JSON.stringify(frame).length : 500;
    this.#sizes.set(frame.id, size);
    this.#bytes += size;
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    while (this.#rewriting !== null) await this.#rewriting;
    this.#underWay += 1;
    try {
      if (this.#journal.isDurable) await this.#append(entries.map((entry) => JSON.stringify(entry)));
      for (const entry of entries) this.#book.apply(entry);
      this.#lines += entries.length;
    } finally {
      this.#underWay -= 1;
    }
    // Not while a line is under way that the book does not have yet.
    if (this.#lines > LINES_MOST && this.#underWay === 0 && this.#journal.isDurable) {
      // Only to save space: if it fails, the old journal has everything.
      const rewriting = this.#rewrite().catch(() => undefined);
      this.#rewriting = rewriting.finally(() => {
        this.#rewriting = null;
      });
    }
  }

  /** A full disk has room again some day. Until then nothing is taken, begun or said, and nothing is lost. */
  async #append(lines: readonly string[]): Promise<void> {
    const { pause, trouble } = this.#parts;
    const { signal } = this.#leaving;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#journal.append(lines);
      } catch (error) {
        if (signal.aborted) throw error;
        if (attempt === 0) trouble(error);
        await pause(attempt, signal).catch(() => undefined);
      }
    }
  }

  async #rewrite(): Promise<void> {
    const lines = [...this.#book.lines()].map((entry) => JSON.stringify(entry));
    this.#lines = lines.length;
    await this.#journal.replace(lines);
  }
}
