import { type Micros, SECOND } from './time.ts';

/** A token bucket: `perHour` tokens flow in evenly, at most `burst` are kept. */
export type Rate = { readonly perHour: number; readonly burst: number };

export type Bucket = { readonly tokens: number; readonly at: Micros };

export type Taken =
  | { kind: 'taken'; bucket: Bucket; view: RateView }
  | { kind: 'empty'; retryAfterSeconds: number; view: RateView };

/** What the `RateLimit-*` headers say. */
export type RateView = { limit: number; remaining: number; resetSeconds: number };

const MICROS_PER_HOUR = 3600 * SECOND;
/** Buckets are stored in head rows, as whole millionths of a token. */
const STORED = 1_000_000;

export function fullBucket(rate: Rate, now: Micros): Bucket {
  return { tokens: rate.burst, at: now };
}

export function toBucket(head: { n: number; at: Micros } | null, rate: Rate, now: Micros): Bucket {
  return head === null ? fullBucket(rate, now) : { tokens: head.n / STORED, at: head.at };
}

export function fromBucket({ tokens, at }: Bucket): { n: number; at: Micros; text: string } {
  return { n: Math.round(tokens * STORED), at, text: '' };
}

/** Replicas need not agree to the second. */
const NO_MATTER: Micros = 60 * SECOND;

/**
 * What has flowed in since the bucket was last written. If the clock went back by a moment, nothing is added or
 * taken. If it went back further, nobody knows how long ago that was; the bucket is full then, or callers would be
 * locked out until the old time comes again.
 */
function refill(bucket: Bucket, rate: Rate, now: Micros): Bucket {
  if (bucket.at > now + NO_MATTER) return fullBucket(rate, now);
  const elapsed = Math.max(0, now - bucket.at);
  const tokens = Math.min(rate.burst, bucket.tokens + (elapsed * rate.perHour) / MICROS_PER_HOUR);
  return { tokens, at: Math.max(now, bucket.at) };
}

export function look(bucket: Bucket, rate: Rate, now: Micros): RateView {
  const { tokens } = refill(bucket, rate, now);
  const missing = rate.burst - tokens;
  return {
    limit: rate.burst,
    remaining: Math.floor(tokens),
    resetSeconds: Math.ceil((missing * 3600) / rate.perHour),
  };
}

/** Puts one token back. */
export function give(bucket: Bucket, rate: Rate, now: Micros): Bucket {
  const filled = refill(bucket, rate, now);
  return { ...filled, tokens: Math.min(rate.burst, filled.tokens + 1) };
}

/** Takes one token (W5). What is refused costs nothing. */
export function take(bucket: Bucket, rate: Rate, now: Micros): Taken {
  const filled = refill(bucket, rate, now);
  if (filled.tokens < 1) {
    const retryAfterSeconds = Math.max(1, Math.ceil(((1 - filled.tokens) * 3600) / rate.perHour));
    return { kind: 'empty', retryAfterSeconds, view: look(filled, rate, now) };
  }
  const left = { tokens: filled.tokens - 1, at: filled.at };
  return { kind: 'taken', bucket: left, view: look(left, rate, now) };
}
