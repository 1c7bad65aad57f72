import { aborted, type Clock } from '../clock.ts';
import { faultOf, LanternError } from '../faults.ts';
import { LIMIT_WAIT_MS } from '../http/retry.ts';
import { askedMsOf, isPassingOrLimit } from '../patience.ts';
import { pauseBefore } from './backoff.ts';

const FAILURES_MOST = 5;

/** What went wrong in a row, and for how long that is worth another try: over the limit once (W23), otherwise a few times. */
export class Tries {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  #wasLimited = false;

  constructor({ clock }: { readonly clock: Clock }, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#wasLimited = false;
  }

  /** Waits before another try, or throws what is no use trying again. */
  async pauseAfter(trouble: unknown): Promise<void> {
    if (this.#signal?.aborted) throw aborted(this.#signal);
    const error = faultOf(trouble) === null ? brokeOff(trouble) : trouble;
    if (!isPassingOrLimit(error)) throw error;
    const pauseMs = this.#pauseFor(error);
    if (pauseMs === null) throw error;
    await this.#clock.sleep(pauseMs, this.#signal);
  }

  #pauseFor(error: unknown): number | null {
    const askedMs = askedMsOf(error);
    if (faultOf(error) === 'rate_limited') {
      if (this.#wasLimited) return null;
      this.#wasLimited = true;
      return askedMs ?? LIMIT_WAIT_MS;
    }
    const ownMs = pauseBefore(this.#failures, Math.random());
    this.#failures += 1;
    return this.#failures < FAILURES_MOST ? Math.max(ownMs, askedMs ?? 0) : null;
  }
}

/** A body that ends in the middle is the network's doing. */
function brokeOff(cause: unknown): LanternError {
  return new LanternError('unreachable', 'The answer broke off, several times in a row.', { cause });
}
