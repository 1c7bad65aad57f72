const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The retry schedule of everything that is sent (W22). The first attempt is immediate; these follow it. */
export const RETRY_STEPS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
const JITTER = 0.2;

export type EndedAttempt = {
  /** Its number: 1 for the first. */
  attempt: number;
  /** What the receiver answered, or null when it never did. */
  status: number | null;
  /** What the receiver asked for; null when it did not. */
  retryAfterSeconds: number | null;
  /** In [0, 1). */
  random: number;
};

export type NextAttempt =
  | { kind: 'done' }
  | { kind: 'retry'; delayMs: number }
  | { kind: 'gone' }
  | { kind: 'exhausted' };

/** A redirect counts as a failure, like every answer but 2xx, and is never followed (W21). */
export function nextAttempt({ attempt, status, retryAfterSeconds, random }: EndedAttempt): NextAttempt {
  if (status !== null && status >= 200 && status < 300) return { kind: 'done' };
  if (status === 410) return { kind: 'gone' };
  const stepMs = RETRY_STEPS_MS[attempt - 1];
  if (stepMs === undefined) return { kind: 'exhausted' };
  return { kind: 'retry', delayMs: delayWithin(stepMs, retryAfterSeconds, random) };
}

/**
 * "Honoured within the step": a receiver may ask for more patience than the jitter drew, up to the end of this step
 * (+20 %), and never for less. So it cannot make us call sooner, nor stretch the three days to for ever.
 */
function delayWithin(stepMs: number, retryAfterSeconds: number | null, random: number): number {
  const drawnMs = stepMs * (1 - JITTER + 2 * JITTER * random);
  const askedMs = (retryAfterSeconds ?? 0) * SECOND_MS;
  const latestMs = stepMs * (1 + JITTER);
  return Math.round(askedMs > drawnMs ? Math.min(askedMs, latestMs) : drawnMs);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads a `Retry-After` header: whole seconds or an HTTP date. Null when it is neither. */
export function toRetryAfterSeconds(header: string, nowMs: number): number | null {
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!HTTP_DATE.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / SECOND_MS));
}
