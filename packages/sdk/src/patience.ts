import type { Clock } from './clock.ts';
import { faultOf } from './faults.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** What is over by itself when the server is back. */
export function isPassing(trouble: unknown): boolean {
  const fault = faultOf(trouble);
  return fault === 'unreachable' || fault === 'server_failed';
}

/** Goes on through a restart of the server, for as long as it takes. */
export async function patiently<T>(
  { clock }: { readonly clock: Clock },
  { signal }: { readonly signal?: AbortSignal | undefined },
  look: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await look();
    } catch (trouble) {
      if (!isPassing(trouble)) throw trouble;
      await clock.sleep(pauseMs, signal);
    }
  }
}
