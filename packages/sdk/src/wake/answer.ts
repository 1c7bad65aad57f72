import { LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import { type Content, RESPONSE_STATUSES, type ResponseBody } from './wire.ts';

interface Answered {
  readonly deliveryId: string;
  readonly respondedAt: string | null;
}

/** Go on as proposed: the person has left it as it was. */
export interface Approved extends Answered {
  readonly status: 'approved';
  readonly mayProceed: true;
  readonly feedback: string | null;
}

/** Do not do what was proposed. `withdrawnAt` is set when it was the agent itself that took it back. */
export interface Rejected extends Answered {
  readonly status: 'rejected';
  readonly mayProceed: false;
  readonly feedback: string | null;
  readonly withdrawnAt: string | null;
  /** There only when the person wrote another version all the same. */
  readonly editedContent?: Exclude<Content, null>;
}

/**
 * Not as proposed: merge both parts of `instructions` into the work first. An approval that comes with edited content is
 * one too, whatever its word: who has written another version does not mean the first one (W23).
 */
export interface Redirected extends Answered {
  readonly status: 'redirected';
  readonly mayProceed: false;
  readonly instructions: { readonly feedback: string | null; readonly editedContent: Content };
}

/** Nobody has decided yet. */
export interface Pending {
  readonly status: 'pending';
  readonly mayProceed: false;
  readonly deliveryId: string;
  readonly timedOutAt: string | null;
}

/** No answer in time, and the assumption to go on with is in the local log. */
export interface Assumed {
  readonly status: 'timed_out';
  readonly mayProceed: true;
  readonly deliveryId: string;
  readonly assumption: string;
}

/** No answer in time, and no assumption to go on with. */
export interface Unanswered {
  readonly status: 'timed_out';
  readonly mayProceed: false;
  readonly deliveryId: string;
  readonly assumption: null;
}

/**
 * What a person decided. `mayProceed` answers one question: may I do what I proposed, as I proposed it?
 *
 * @example
 * if (answer.mayProceed) await publish(draft);
 * else if (answer.status === 'redirected') await publish(merge(draft, answer.instructions));
 */
export type Answer = Approved | Rejected | Redirected;

/** An answer, or the news that there is none yet. */
export type Checked = Answer | Pending;

export function toAnswer(body: ResponseBody): Checked {
  const { delivery_id: deliveryId, feedback, edited_content: editedContent } = body;
  const respondedAt = body.responded_at;
  switch (meantBy(body.status, editedContent)) {
    case 'approved':
      return { status: 'approved', mayProceed: true, deliveryId, respondedAt, feedback };
    case 'rejected': {
      const withdrawnAt = body.withdrawn_at ?? null;
      const said = { feedback, withdrawnAt, ...(editedContent === null ? {} : { editedContent }) };
      return { status: 'rejected', mayProceed: false, deliveryId, respondedAt, ...said };
    }
    case 'redirected': {
      const instructions = { feedback, editedContent };
      return { status: 'redirected', mayProceed: false, deliveryId, respondedAt, instructions };
    }
    case 'pending':
      return { status: 'pending', mayProceed: false, deliveryId, timedOutAt: body.timed_out_at ?? null };
  }
}

/** The word that an agent has to act on. Nobody is told "approved" beside a version that the person has changed. */
export function meantBy<S extends string>(status: S, editedContent: unknown): S | 'redirected' {
  return status === 'approved' && editedContent !== null ? 'redirected' : status;
}

/**
 * A W14 body out of anything, or null. An unknown status is null too: nobody may proceed on a word we cannot read,
 * and instructions in a shape we do not know must not get lost silently.
 */
export function readResponse(value: unknown): ResponseBody | null {
  if (!isRecord(value) || typeof value.delivery_id !== 'string') return null;
  const status = RESPONSE_STATUSES.find((known) => known === value.status);
  const { feedback = null, edited_content: edited = null } = value;
  if (status === undefined || !isTextOrNull(feedback) || !(isTextOrNull(edited) || isRecord(edited)))
    return null;
  return {
    delivery_id: value.delivery_id,
    status,
    feedback,
    edited_content: edited,
    responded_at: textOf(value.responded_at),
    ...(typeof value.timed_out_at === 'string' ? { timed_out_at: value.timed_out_at } : {}),
    ...(typeof value.withdrawn_at === 'string' ? { withdrawn_at: value.withdrawn_at } : {}),
  };
}

/** The same, for a reply that has to be one. */
export function demandResponse(value: unknown): ResponseBody {
  const body = readResponse(value);
  if (body !== null) return body;
  const message =
    'The server answered with something that is not a WAKE response: check the address and its version.';
  throw new LanternError('bad_reply', message);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
