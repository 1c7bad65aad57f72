import { DAMAGED, Fault, isFault } from '../../core/faults.ts';
import { codeOf } from '../error-code.ts';

const SOCKET = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;
/** Connection lost, shutting down, starting up; ended by the server because we stood still in a transaction. */
const AWAY = /^(08|57P|25P03|25P04)/;
/** Too many clients. */
const CROWDED = /^(53300|53400)/;
const AWAY_WORDS = /Connection terminated|not queryable/i;

const SILENT_WORDS = /Query read timeout|timeout expired|timeout exceeded/i;

/** The database cannot be reached, as far as this connection can tell. */
export function isAway(reason: unknown): boolean {
  return isGone(reason) || CROWDED.test(codeOf(reason));
}

/** Nobody is there, or nobody any more. */
function isGone(reason: unknown): boolean {
  const code = codeOf(reason);
  const message = reason instanceof Error ? reason.message : '';
  if (SOCKET.test(code) || AWAY.test(code) || AWAY_WORDS.test(message)) return true;
  return isSocketMissing(reason) || isSilent(reason);
}

/** A Unix socket is a file that goes with its server. */
function isSocketMissing(reason: unknown): boolean {
  return codeOf(reason) === 'ENOENT' && (reason as NodeJS.ErrnoException).syscall === 'connect';
}

/** It neither answers nor refuses. */
export function isSilent(reason: unknown): boolean {
  const message = reason instanceof Error ? reason.message : '';
  return codeOf(reason) === 'ETIMEDOUT' || SILENT_WORDS.test(message);
}

/** It is reachable but takes no writes: it was always a standby, or has just become one. */
export function isReadOnly(reason: unknown): boolean {
  return codeOf(reason) === '25006';
}

/** Two transactions conflicted; one was rolled back and may simply be repeated. */
export function isConflict(reason: unknown): boolean {
  return codeOf(reason) === '40P01' || codeOf(reason) === '40001';
}

/** Somebody else holds what we need, or waits for what we hold. */
export function isCrossed(reason: unknown): boolean {
  return codeOf(reason) === '55P03' || isConflict(reason);
}

/** A newer version has added a column to a table that a prepared statement reads whole: it must be prepared again. */
export function isStale(reason: unknown): boolean {
  const message = reason instanceof Error ? reason.message : '';
  return codeOf(reason) === '0A000' && /cached plan must not change/.test(message);
}

/** An earlier statement of this transaction failed, and this one only reports it. */
export function isAftermath(reason: unknown): boolean {
  return codeOf(reason) === '25P02';
}

/** Whoever answers and does not let us in (a new password, no connection left, a standby) has told the operator why. */
export function awayFault(reason?: unknown): Fault {
  const isTold = reason !== undefined && !isGone(reason);
  const problem = CROWDED.test(codeOf(reason)) ? 'has no connection left for us' : 'does not answer';
  return new Fault('unavailable', `The database ${problem}. Nothing was stored; retry in a moment.`, {
    retryAfter: 2,
    ...(isTold && { cause: reason }),
  });
}

/**
 * When an answer was lost, nobody knows whether it was stored; the same Idempotency-Key or event_id makes a retry
 * safe.
 */
export function unsureFault(): Fault {
  const message =
    'The database went away before it confirmed. Retry with the same Idempotency-Key or event_id: nothing is stored twice.';
  return new Fault('unavailable', message, { retryAfter: 2 });
}

function movedFault(): Fault {
  const message =
    'The data was moved to another database. Nothing was stored here; the operator knows where.';
  return new Fault('unavailable', message, { retryAfter: 30 });
}

/** The error as a door can report it. An unknown one stays as it is: a bug, logged in full. */
export function storageFault(reason: unknown): unknown {
  if (isFault(reason)) return reason;
  if (isAway(reason) || isReadOnly(reason)) return awayFault();
  if (reason instanceof Error && /this data was moved to/.test(reason.message)) return movedFault();
  switch (codeOf(reason)) {
    case '53100':
      return new Fault('storage_full', "The database's disk is full. Nothing was stored; retry later.", {
        retryAfter: 30,
        cause: reason,
      });
    case '22021':
      return new Fault('invalid_field', 'Text may not hold the null character (U+0000).', { cause: reason });
    case '58030':
      return new Fault('unavailable', "The database's disk fails. Nothing was stored; retry in a moment.", {
        retryAfter: 2,
        cause: reason,
      });
    case 'XX001':
    case 'XX002':
      return new Fault('unavailable', DAMAGED, { retryAfter: 60, cause: reason });
    case '57014':
    case '55P03':
    case '40P01':
    case '40001':
    case '53200':
      return new Fault('unavailable', 'The database is busy. Nothing was stored; retry in a moment.', {
        retryAfter: 2,
      });
    default:
      return reason;
  }
}
