export interface Replied {
  readonly kind: 'reply';
  readonly status: number;
  readonly retryAfter: string | null;
  /** When it left, by the clock of whoever sent it. */
  readonly servedAtMs?: number | null;
}

/** What came of one attempt: an HTTP reply, or none at all. */
export type Attempt = Replied | { readonly kind: 'failed' };

/** How often this call was already delayed, by cause. */
export interface Tried {
  readonly failures: number;
  readonly limits: number;
}

export type Verdict =
  | { readonly kind: 'take' }
  | { readonly kind: 'wait'; readonly ms: number; readonly counts: keyof Tried }
  | {
      readonly kind: 'give_up';
      readonly fault: 'unauthorized' | 'rate_limited' | 'unreachable' | 'server_failed';
    };

const BACKOFF_MS = [250, 1_000, 3_000];
/** Over the limit, and the server does not say for how long. */
export const LIMIT_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 24 * 3_600_000;

export function repliedBy({ status, headers }: Response): Replied {
  const servedAtMs = Date.parse(headers.get('date') ?? '');
  return {
    kind: 'reply',
    status,
    retryAfter: headers.get('retry-after'),
    servedAtMs: Number.isNaN(servedAtMs) ? null : servedAtMs,
  };
}

/** The retry rules of W23 in one place: 401 stops, 429 waits and tries once more, the rest backs off. */
export function judge(attempt: Attempt, tried: Tried, at: { nowMs: number; random: number }): Verdict {
  if (attempt.kind === 'failed') return backOff('unreachable', tried, { random: at.random, askedMs: null });
  // A date is by the server's clock: by our own it could be hours away, or past.
  const askedMs = retryAfterMs(attempt.retryAfter, attempt.servedAtMs ?? at.nowMs);
  if (attempt.status === 401) return { kind: 'give_up', fault: 'unauthorized' };
  if (attempt.status === 429) {
    if (tried.limits > 0) return { kind: 'give_up', fault: 'rate_limited' };
    return { kind: 'wait', ms: askedMs ?? LIMIT_WAIT_MS, counts: 'limits' };
  }
  if (attempt.status >= 500 || attempt.status === 408) {
    return backOff('server_failed', tried, { random: at.random, askedMs });
  }
  return { kind: 'take' };
}

function backOff(
  fault: 'unreachable' | 'server_failed',
  tried: Tried,
  pace: { random: number; askedMs: number | null },
): Verdict {
  const step = BACKOFF_MS[tried.failures];
  if (step === undefined) return { kind: 'give_up', fault };
  // ±20 %, so that many agents do not come back in the same instant after an outage.
  const ms = Math.round(step * (0.8 + 0.4 * pace.random));
  return { kind: 'wait', ms: Math.max(ms, pace.askedMs ?? 0), counts: 'failures' };
}

/** `Retry-After` in milliseconds, as seconds or as a date; null when it is absent or unreadable. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS);
}
