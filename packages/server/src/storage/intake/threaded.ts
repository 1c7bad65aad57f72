import { Worker } from 'node:worker_threads';
import { Fault } from '../../core/faults.ts';
import type { DoneOf, Intake, Kind, UnitOf } from '../../core/intake.ts';
import type { News } from '../../core/store.ts';
import type { BorrowedTurns } from '../sqlite/turns.ts';
import { KINDS, pack } from './pack.ts';
import {
  type Answered,
  type BatchPart,
  type Done,
  type FromThread,
  fromNews,
  fromOutcome,
  type ThreadData,
  type ToThread,
} from './wire.ts';

export interface IntakeParts {
  data: ThreadData;
  /** For a database with a single writer; null where the database handles several by itself. */
  turns: BorrowedTurns | null;
  /** Takes a unit in on this thread. */
  here: Intake['take'];
  tell(news: News): void;
  warn(problem: unknown, message: string): void;
  /** The thread's program; null to never start one. */
  program?: URL | null;
}

type Waiting = {
  kind: Kind;
  unit: UnitOf<Kind>;
  resolve(outcome: Done | Fault): void;
  reject(reason: unknown): void;
};

/** This many units in one turn of the event loop are a crowd. */
const CROWD = 8;
/** This many are sent without waiting for the end of the turn: the thread writes them while we read the next ones. */
const SHARE = 32;
/** When the thread keeps dying, or finds no database, each new start waits longer than the last. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Built code only: a thread has no loader for the sources. */
const PROGRAM = import.meta.url.endsWith('.js') ? new URL('./thread.js', import.meta.url) : null;

/**
 * Takes units in: deliveries, events, messages to agents, reports of agents, jobs. Single ones are written on this thread. A crowd
 * starts a second thread, which seals, writes and waits for the disk while this one reads the next requests.
 */
export class ThreadedIntake implements Intake {
  readonly #parts: IntakeParts;
  #thread: Worker | null = null;
  #ready = false;
  #waiting: Waiting[] = [];
  /** What the thread has not answered yet: a list, because of what a map keeps (ARCHITECTURE.md, "Doors and clocks"). */
  #sent: { number: number; batch: Waiting[] }[] = [];
  #number = 0;
  #crowd = 0;
  /** How many units are being written on this thread. */
  #here = 0;
  #losses = 0;
  #notBefore = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  take<K extends Kind>(kind: K, unit: UnitOf<K>): Promise<DoneOf<K> | Fault> {
    if (!this.#ready) {
      this.#count(unit);
      return this.#takeHere(kind, unit);
    }
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#send());
      this.#waiting.push({ kind, unit, resolve: resolve as Waiting['resolve'], reject });
      if (this.#waiting.length >= SHARE) this.#send();
    });
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    this.#notBefore = Number.POSITIVE_INFINITY; // no other thread is started
    const gone = new Promise((resolve) => thread.once('exit', resolve));
    this.#post({ kind: 'stop' });
    await gone;
  }

  async #takeHere<K extends Kind>(kind: K, unit: UnitOf<K>): Promise<DoneOf<K> | Fault> {
    this.#here++;
    try {
      return await this.#parts.here(kind, unit);
    } finally {
      if (--this.#here === 0 && this.#waiting.length > 0) this.#send();
    }
  }

  #count(unit: UnitOf<Kind>): void {
    if (this.#crowd === 0) {
      setImmediate(() => {
        this.#crowd = 0;
      });
    }
    this.#crowd += weightOf(unit);
    const { program = PROGRAM } = this.#parts;
    if (this.#crowd < CROWD || this.#thread !== null || program === null) return;
    if (performance.now() >= this.#notBefore) this.#start(program);
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
    if (message.kind === 'done') this.#hearOutcomes(message);
    else if (message.kind === 'granted') this.#parts.turns?.granted();
    else {
      this.#ready = true;
      const ask = () => this.#post({ kind: 'ask' });
      this.#parts.turns?.setLender({ ask, giveBack: () => this.#post({ kind: 'back' }) });
    }
  }

  #send(): void {
    // Units that are still being written on this thread came first: the reports on a task must stay in order.
    if (this.#here > 0 || this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const batch: Waiting[] = [];
    const parts: BatchPart[] = [];
    for (const of of KINDS) {
      const same = waiting.filter(({ kind }) => kind === of);
      if (same.length === 0) continue;
      batch.push(...same);
      const packed = pack(
        of,
        same.map(({ unit }) => unit),
      );
      parts.push({ of, packed });
    }
    const number = ++this.#number;
    this.#sent.push({ number, batch });
    this.#post(
      { kind: 'batch', number, parts },
      parts.map(({ packed }) => packed.bodies.buffer),
    );
  }

  #hearOutcomes({ batches, news }: Extract<FromThread, { kind: 'done' }>): void {
    for (const answered of batches) this.#settle(answered);
    if (news.length > 0) this.#parts.tell(fromNews(news));
  }

  #settle({ number, outcomes }: Answered): void {
    const answered = this.#sent.find((one) => one.number === number);
    this.#sent = this.#sent.filter((one) => one !== answered);
    answered?.batch.forEach(({ resolve, reject }, i) => {
      const outcome = outcomes[i];
      try {
        if (outcome === undefined) throw new Error('the intake thread left somebody unanswered');
        resolve(fromOutcome(outcome));
      } catch (reason) {
        reject(reason);
      }
    });
  }

  /** What the thread had not answered may or may not be stored, so its senders are told to retry. */
  #gone(): void {
    this.#thread = null;
    this.#ready = false;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#losses++, LONGEST_PAUSE_MS);
    this.#notBefore = Math.max(this.#notBefore, performance.now() + pause);
    this.#parts.turns?.setLender(null);
    const left = this.#sent.flatMap(({ batch }) => batch);
    this.#sent = [];
    for (const { reject } of left)
      reject(new Fault('unavailable', 'The store has just stumbled. Retry in a moment.', { retryAfter: 1 }));
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const { kind, unit, resolve, reject } of unsent) this.#parts.here(kind, unit).then(resolve, reject);
  }
}

/** A page of jobs, or an event for many inboxes, counts as many. */
function weightOf(unit: UnitOf<Kind>): number {
  if ('page' in unit) return unit.page.length;
  return 'takers' in unit ? unit.takers.length : 1;
}
