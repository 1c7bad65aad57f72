/** Everything that can go wrong for a caller, as a closed list: switch on `fault`, never on the message. */
export const FAULTS = [
  'wrong_usage',
  'insecure_url',
  'unauthorized',
  'forbidden',
  'refused',
  'not_found',
  'conflict',
  'cursor_expired',
  'rate_limited',
  'unreachable',
  'server_failed',
  'bad_reply',
  'foreign_delivery',
  'log_failed',
  'cursor_failed',
  'aborted',
] as const;

/** One word of `FAULTS`. */
export type Fault = (typeof FAULTS)[number];

/** What the server said, if it was the server that refused. */
export interface WireTrouble {
  readonly status: number;
  readonly code: string | null;
  readonly field: string | null;
  /** With `cursor_expired`: where the inbox begins now. */
  readonly oldestCursor: string | null;
  /** How long the server wants to be left alone, where it said so (`Retry-After`). */
  readonly retryAfterMs?: number;
}

export interface TroubleFacts {
  readonly wire?: WireTrouble;
  readonly cause?: unknown;
}

/**
 * The only error this package throws on purpose. Its message is a sentence that says what to do.
 *
 * @example
 * try { await wake.deliver(draft); }
 * catch (error) { if (faultOf(error) === 'unauthorized') stopTheAgent(); else throw error; }
 */
export class LanternError extends Error {
  readonly fault: Fault;
  readonly wire: WireTrouble | null;

  constructor(fault: Fault, message: string, facts: TroubleFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'LanternError';
    this.fault = fault;
    this.wire = facts.wire ?? null;
  }
}

/**
 * The fault of anything that was caught, or null when it is not one of ours. Works across two copies of this
 * package, where `instanceof` does not.
 *
 * @example
 * if (faultOf(error) === 'rate_limited') pauseTheLoop();
 */
export function faultOf(error: unknown): Fault | null {
  if (typeof error !== 'object' || error === null || !('fault' in error)) return null;
  return FAULTS.find((fault) => fault === error.fault) ?? null;
}
