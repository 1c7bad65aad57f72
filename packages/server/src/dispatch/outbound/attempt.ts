import { type Failure, failed } from './failure.ts';

export type Answer = {
  ok: true;
  /** Any status that came back, 3xx and 5xx too: what it means is the caller's rule. */
  status: number;
  headers: { retryAfter?: string; contentType?: string };
  /** As it came over the wire, never decompressed. */
  bodyStart: Buffer;
  /** The reply was longer than what was read. */
  truncated: boolean;
};
export type Outcome = (Answer | Failure) & { durationMs: number };

export type OutboundClock = {
  /** Milliseconds, from any fixed point. */
  nowMs(): number;
  /** Calls `fire` once after `ms`, unless cancelled by what it returns. */
  after(ms: number, fire: () => void): () => void;
};

/**
 * One try with one end: the reply, the deadline, the caller's signal or a shutdown, whichever is first. The deadline
 * covers everything from the name to the last byte, so no stage can add its own half minute.
 */
export class Attempt {
  readonly outcome: Promise<Outcome>;
  readonly #clock: OutboundClock;
  readonly #startedAtMs: number;
  readonly #whenOver: (() => void)[] = [];
  #settle: { resolve: (outcome: Outcome) => void; reject: (error: unknown) => void } | null = null;

  constructor(clock: OutboundClock, deadlineMs: number, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
    this.outcome = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.whenOver(clock.after(deadlineMs, () => this.end(failed('timeout'))));
    if (signal !== undefined) this.#follow(signal);
  }

  get over(): boolean {
    return this.#settle === null;
  }

  end(result: Answer | Failure): void {
    const durationMs = this.#clock.nowMs() - this.#startedAtMs;
    this.#finish()?.resolve({ ...result, durationMs });
  }

  /** For what nobody expected: a mistake in our own code. */
  break(error: unknown): void {
    this.#finish()?.reject(error);
  }

  /** Runs once, at the end; at once when that has passed. */
  whenOver(run: () => void): void {
    if (this.over) run();
    else this.#whenOver.push(run);
  }

  #finish() {
    const settle = this.#settle;
    this.#settle = null;
    for (const run of this.#whenOver.splice(0)) run();
    return settle;
  }

  #follow(signal: AbortSignal): void {
    const abort = () => this.end(failed('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    this.whenOver(() => signal.removeEventListener('abort', abort));
  }
}
