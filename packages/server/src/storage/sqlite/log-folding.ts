import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Database } from './driver.ts';

export const FOLD = 'pragma wal_checkpoint(passive)';
/**
 * Pages in the log after which it is folded: 8 MiB. With twice as much, finishing in the writer's turn takes up to 24
 * ms instead of 16; with a quarter, hot pages are written twice as often.
 */
const ENOUGH = 1000;
/** About what a commit adds, whatever it writes (ends of indexes, heads), besides each row. */
const PAGES_OF_COMMIT = 6;
const PAGES_OF_ROW = 0.5;
/** Pages after which SQLite folds by itself, inside a commit: reached only when we cannot keep up. */
export const OWN_MARK = 8000;

type Parts = {
  file: string;
  writer: Database;
  /** Asks for the writer's turn, in which `finish` will be called. */
  askForTurn(): void;
  /** The thread's program; null folds in the writer's turn. */
  program?: URL | null;
};

/** Only in built code: a thread has no loader for the sources. */
const PROGRAM = import.meta.url.endsWith('.js') ? new URL('./folding-thread.js', import.meta.url) : null;

/**
 * Folds the log into the database file beside the writer, on a thread that is started when first needed. SQLite would
 * do it inside a commit, and everybody would wait for 20 ms. What was written meanwhile is folded in the writer's
 * turn, so that the log starts over: overwriting it costs half as much as making it longer.
 */
export class LogFolding {
  readonly #parts: Parts;
  readonly #program: URL | null;
  #thread: Worker | null = null;
  /** Aborted when the thread has ended, so that nobody waits for its answer. */
  #gone = new AbortController();
  #running: Promise<void> | null = null;
  #pages = 0;
  #isNearlyDone = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#program = parts.program === undefined ? PROGRAM : parts.program;
  }

  /** After a commit. */
  wrote(rows: number): void {
    this.#pages += PAGES_OF_COMMIT + rows * PAGES_OF_ROW;
    if (this.#pages < ENOUGH || this.#running !== null) return;
    this.#pages = 0;
    void this.#run(async () => {
      if (this.#program !== null) await this.#foldBeside(this.#program);
      this.#isNearlyDone = true;
      this.#parts.askForTurn();
    });
  }

  /** True when the writer should call `finish` in its next turn. */
  get isNearlyDone(): boolean {
    return this.#isNearlyDone;
  }

  /** Called in the writer's turn, between two transactions. Only the writer waits for it; reads go on. */
  finish(): Promise<void> {
    this.#isNearlyDone = false;
    return this.#run(async () => {
      if (this.#program !== null) await this.#foldBeside(this.#program);
      else this.#parts.writer.exec(FOLD);
    });
  }

  async stop(): Promise<void> {
    await this.#running;
    await this.#thread?.terminate();
  }

  /**
   * Nothing is lost when it fails: everything stays in the log. If the disk is at fault, the writer finds out too and
   * reports it.
   */
  #run(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch(() => {})
      .finally(() => {
        if (this.#running === running) this.#running = null;
      });
    this.#running = running;
    return running;
  }

  async #foldBeside(program: URL): Promise<void> {
    this.#thread ??= this.#start(program);
    const thread = this.#thread;
    thread.ref();
    thread.postMessage('fold');
    // Or throws what the thread died of, or that it ended silently.
    await once(thread, 'message', { signal: this.#gone.signal });
    thread.unref();
  }

  #start(program: URL): Worker {
    const thread = new Worker(program, { workerData: this.#parts.file });
    const gone = new AbortController();
    this.#gone = gone;
    thread.on('error', () => {}); // whoever waits for it is told
    thread.on('exit', () => {
      this.#thread = null; // the next one gets another try
      gone.abort();
    });
    return thread;
  }
}
