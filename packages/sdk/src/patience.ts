import type { Clock } from './clock.ts';
import { faultOf, LanternError } from './faults.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** Which trouble is waited out; by default, what ends when the server is back. */
  readonly passes?: ((trouble: unknown) => boolean) | undefined;
}

/** Trouble that ends by itself when the server is back. */
export function isPassing(trouble: unknown): boolean {
  const fault = faultOf(trouble);
  return fault === 'unreachable' || fault === 'server_failed';
}

/** For work that is done and must be reported: an alert was raised by then, and waiting harms nobody. */
export function isPassingOrLimit(trouble: unknown): boolean {
  return isPassing(trouble) || faultOf(trouble) === 'rate_limited';
}

/** For how long the server wants to be left alone, where it said so. */
export function askedMsOf(trouble: unknown): number | null {
  return trouble instanceof LanternError ? (trouble.wire?.retryAfterMs ?? null) : null;
}

/** Retries through a restart of the server, for as long as it takes. */
export async function patiently<T>(
  { clock }: { readonly clock: Clock },
  { signal, passes = isPassing }: Patience,
  look: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await look();
    } catch (trouble) {
      if (!passes(trouble)) throw trouble;
      await clock.sleep(Math.max(pauseMs, askedMsOf(trouble) ?? 0), signal);
    }
  }
}
