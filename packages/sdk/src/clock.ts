import { LanternError } from './faults.ts';

/** Time is passed in, so that tests can turn a clock instead of sleeping. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with fault `aborted` as soon as the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// A larger delay overflows setTimeout, which then fires at once.
const LONGEST_SLEEP_MS = 2_147_483_647;

/**
 * The real clock, used unless another one is given.
 *
 * @example
 * const wake = createWake({ url, apiKey, clock: systemClock });
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal));
      const giveUp = () => {
        clearTimeout(timer);
        reject(aborted(signal));
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', giveUp);
          resolve();
        },
        Math.min(ms, LONGEST_SLEEP_MS),
      );
      signal?.addEventListener('abort', giveUp, { once: true });
    }),
};

/** When a span that somebody gave has passed. "Never" is no such time (W23), and neither is what no clock can reach. */
export function endOf(clock: Clock, name: string, ms: number): number {
  if (Number.isFinite(ms)) return clock.now() + ms;
  const message = `${name} is ${String(ms)}: give a number of milliseconds, because nobody waits for ever.`;
  throw new LanternError('wrong_usage', message);
}

/** The one form in which an abort by the caller is reported. */
export function aborted(signal: AbortSignal | undefined): LanternError {
  return new LanternError('aborted', 'The call was aborted by its caller.', { cause: signal?.reason });
}
