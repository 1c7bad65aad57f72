/**
 * Every way in which we refuse. A closed list: each door has a table from fault to its own wire form, and a
 * fault that is missing from one of them does not compile. `docs/errors.md` describes each; a test keeps the two equal.
 */
export const FAULTS = [
  'unauthorized',
  'login_failed',
  'session_expired',
  'proof_needed',
  'https_required',
  'agent_mismatch',
  'agent_key_on_desk',
  'role_too_low',
  'cross_site',
  'not_found',
  'agent_not_found',
  'unsupported_version',
  'method_not_allowed',
  'malformed_body',
  'missing_field',
  'invalid_field',
  'target_not_allowed',
  'secret_in_details',
  'payload_too_large',
  'unsupported_media_type',
  'header_too_large',
  'range_not_satisfiable',
  'rate_limited',
  'idempotency_conflict',
  'already_decided',
  'already_held',
  'content_changed',
  'withdrawn',
  'superseded',
  'not_pending',
  'nothing_held',
  'name_taken',
  'last_owner',
  'setup_closed',
  'invitation_closed',
  'image_unavailable',
  'no_subscription',
  'event_conflict',
  'ack_conflict',
  'cursor_expired',
  'bad_signature',
  'not_knowledge',
  'key_refused',
  'task_ended',
  'not_cancelable',
  'storage_full',
  'unavailable',
  'internal',
] as const;

export type FaultName = (typeof FAULTS)[number];

export type FaultDetail = {
  /** The field, query parameter or header that is wrong. */
  field?: string;
  /** Whole seconds until a retry makes sense. */
  retryAfter?: number;
  /** Further members of the error body, where a rule says so (who decided, which versions are supported, …). */
  extra?: Record<string, unknown>;
  /** What lies behind it, for the log and nobody else: a fault that has one is the operator's business too. */
  cause?: unknown;
};

/** Recognised by `fault`, not by `instanceof`: it survives copies of the module. */
export class Fault extends Error {
  readonly fault: FaultName;
  readonly detail: FaultDetail;

  constructor(fault: FaultName, message: string, detail: FaultDetail = {}) {
    super(message);
    this.name = 'Fault';
    this.fault = fault;
    this.detail = detail;
  }
}

const NAMES: ReadonlySet<string> = new Set(FAULTS);

export function isFault(thing: unknown): thing is Fault {
  return thing instanceof Error && 'fault' in thing && NAMES.has(String(thing.fault));
}

export const DAMAGED =
  'A part of the store is damaged and cannot be read. Nothing was stored; the operator finds more in the log.';

/**
 * A store that is unreachable is so for everybody: trying one request after the other would only make all of them
 * wait. A damaged record harms only those who read it.
 */
export function isAway(thing: unknown): boolean {
  return isFault(thing) && thing.fault === 'unavailable' && thing.message !== DAMAGED;
}

/**
 * Says nothing about what was asked for: the store is unreachable or cannot write just now, and the same request may
 * succeed later.
 */
export function isStoreTrouble(thing: unknown): boolean {
  return isFault(thing) && (thing.fault === 'unavailable' || thing.fault === 'storage_full');
}

/** Rules return a fault as a value; a door throws it so that its one error handler can answer. */
export function orThrow<T>(outcome: T | Fault): T {
  if (isFault(outcome)) throw outcome;
  return outcome;
}

/** For a record that is damaged, or sealed with a lost key, where it must not stop the records beside it. */
export function orNull<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}
