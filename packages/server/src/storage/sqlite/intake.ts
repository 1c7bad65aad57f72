import { Worker } from 'node:worker_threads';
import type { Accepted, Intake, Prepared } from '../../core/deliveries/accept.ts';
import { Fault } from '../../core/faults.ts';
import type { News } from '../../core/store.ts';
import { pack } from './intake-pack.ts';
import { type FromThread, fromNews, fromOutcome, type ThreadData, type ToThread } from './intake-wire.ts';
import type { BorrowedTurns } from './turns.ts';

export interface IntakeParts {
  data: ThreadData;
  turns: BorrowedTurns;
  /** The same on this thread. */
  here(unit: Prepared): Promise<Accepted | Fault>;
  tell(news: News): void;
  warn(problem: unknown, message: string): void;
  /** The thread's program; null for none. */
  program?: URL | null;
}

type Waiting = { unit: Prepared; resolve(outcome: Accepted | Fault): void; reject(reason: unknown): void };

/** So many deliveries in one turn of the event loop are a crowd. */
const CROWD = 8;
/** So many are sent at once without waiting for more: the thread writes them while we read the next ones. */
const SHARE = 32;
/** A thread that keeps dying is not helped by another one. */
const MOST_LOSSES = 3;
/** Built code only: a thread has no loader for the sources. */
const PROGRAM = import.meta.url.endsWith('.js') ? new URL('./intake-thread.js', import.meta.url) : null;

/**
 * Takes deliveries in. One by one that happens right here; when they come in crowds a second thread is started, which
 * seals, writes and waits for the disk while this one reads the next requests.
 */
export class ThreadedIntake implements Intake {
  readonly #parts: IntakeParts;
  #thread: Worker | null = null;
  #ready = false;
  #waiting: Waiting[] = [];
  readonly #sent = new Map<number, Waiting[]>();
  #number = 0;
  #crowd = 0;
  #losses = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  accept(unit: Prepared): Promise<Accepted | Fault> {
    if (!this.#ready) {
      this.#count();
      return this.#parts.here(unit);
    }
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#send());
      this.#waiting.push({ unit, resolve, reject });
      if (this.#waiting.length >= SHARE) this.#send();
    });
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    this.#losses = MOST_LOSSES; // none is started after this one
    const gone = new Promise((resolve) => thread.once('exit', resolve));
    this.#post({ kind: 'stop' });
    await gone;
  }

  #count(): void {
    if (this.#crowd++ === 0) {
      setImmediate(() => {
        this.#crowd = 0;
      });
    }
    const { program = PROGRAM } = this.#parts;
    if (this.#crowd < CROWD || this.#thread !== null || this.#losses >= MOST_LOSSES) return;
    if (program !== null) this.#start(program);
  }

  #start(program: URL): void {
    const thread = new Worker(program, { workerData: this.#parts.data });
    this.#thread = thread;
    thread.on('message', (message: FromThread) => this.#hear(message));
    thread.on('error', (problem) => this.#parts.warn(problem, 'the intake thread failed'));
    thread.on('exit', () => this.#gone());
  }

  #post(message: ToThread, handedOver: ArrayBuffer[] = []): void {
    this.#thread?.postMessage(message, handedOver);
  }

  #hear(message: FromThread): void {
    if (message.kind === 'done') this.#settle(message);
    else if (message.kind === 'granted') this.#parts.turns.granted();
    else {
      this.#ready = true;
      const ask = () => this.#post({ kind: 'ask' });
      this.#parts.turns.setLender({ ask, giveBack: () => this.#post({ kind: 'back' }) });
    }
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    const batch = this.#waiting;
    this.#waiting = [];
    const number = ++this.#number;
    this.#sent.set(number, batch);
    const packed = pack(batch.map(({ unit }) => unit));
    this.#post({ kind: 'batch', number, packed }, [packed.bodies.buffer]);
  }

  #settle({ number, outcomes, news }: Extract<FromThread, { kind: 'done' }>): void {
    const batch = this.#sent.get(number) ?? [];
    this.#sent.delete(number);
    batch.forEach(({ resolve, reject }, i) => {
      const outcome = outcomes[i];
      try {
        if (outcome === undefined) throw new Error('the intake thread left a delivery unanswered');
        resolve(fromOutcome(outcome));
      } catch (reason) {
        reject(reason);
      }
    });
    if (news.length > 0) this.#parts.tell(fromNews(news));
  }

  /** Whatever it had not answered may or may not be stored; the sender is told to ask again. */
  #gone(): void {
    this.#thread = null;
    this.#ready = false;
    this.#losses++;
    this.#parts.turns.setLender(null);
    const left = [...this.#sent.values()].flat();
    this.#sent.clear();
    for (const { reject } of left)
      reject(new Fault('unavailable', 'The store has just stumbled. Retry in a moment.', { retryAfter: 1 }));
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const { unit, resolve, reject } of unsent) this.#parts.here(unit).then(resolve, reject);
  }
}
