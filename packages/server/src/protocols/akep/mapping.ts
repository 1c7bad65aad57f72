import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import {
  ACK_STATUSES,
  type AckStatus,
  type Entry,
  RESUME_POLICIES,
  type ResumePolicy,
} from '../../core/events/event.ts';
import { type Reader, toCursor } from '../../core/events/inbox/cursor.ts';
import type { InboxSettings } from '../../core/events/store.ts';
import type { Subscribed } from '../../core/events/subscriptions/subscribe.ts';
import type { Subscription, SubscriptionBody } from '../../core/events/subscriptions/subscription.ts';
import type { Wait } from '../../core/events/waits/wait.ts';
import { Fault } from '../../core/faults.ts';
import type { Room } from '../../core/room.ts';
import { fromIso, type Micros, SECOND, toIso, toIsoOrNull } from '../../core/time.ts';
import {
  choice,
  invalid,
  optionalText,
  type Query,
  requiredText,
  single,
} from '../../http/reading/fields.ts';
import { checkSubscription, EVENT_TYPE, LIMITS, PolicyChange, WaitBody } from './schema.ts';

export function toLimit(query: Query): number {
  return whole(query, 'limit', 1, LIMITS.pageMost) ?? LIMITS.pageDefault;
}

/** How many of the newest are asked for, instead of a place to start from; null when not asked. */
export function toLast(query: Query): number | null {
  return whole(query, 'last', 1, LIMITS.pageMost) ?? null;
}

/** Seconds to wait, in milliseconds; more than the most is capped (K12). */
export function toWaitMs(query: Query): number {
  const text = single(query, 'timeout_seconds') ?? String(LIMITS.waitDefault);
  if (/^\d+$/.test(text)) return Math.min(Number(text), LIMITS.waitMost) * 1000;
  const most = LIMITS.waitMost;
  throw invalid(
    'timeout_seconds',
    `timeout_seconds must be a whole number; more than ${most} is taken as ${most}.`,
  );
}

function whole(query: Query, field: string, least: number, most: number): number | null {
  const text = single(query, field);
  if (text === null) return null;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalid(field, `${field} must be a whole number from ${least} to ${most}.`);
}

export function textOf({ bytes }: { bytes: Uint8Array }): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** The stored bytes, with our own members around them. */
export function fromPage(
  room: Room,
  reader: Reader,
  read: { items: { bytes: Uint8Array }[]; hasMore: boolean; after: number },
): Uint8Array[] {
  const parts: Uint8Array[] = [START];
  for (const { bytes } of read.items) parts.push(bytes, COMMA);
  if (read.items.length > 0) parts.pop();
  const cursor = toCursor(room, 'events', reader, read.after);
  parts.push(Buffer.from(`],"next_cursor":"${cursor}","has_more":${read.hasMore}}`));
  return parts;
}

const START = Buffer.from('{"events":[');
const COMMA = Buffer.from(',');

export function fromEntryAck(entry: Entry) {
  return entry.ack === null
    ? null
    : { status: entry.ack.status, processed_at: toIso(entry.ack.processedAt), reason: entry.ack.reason };
}

export function toAck(body: JsonObject): {
  status: AckStatus;
  processedAt: Micros | null;
  reason: string | null;
} {
  const status = body.status === undefined ? 'stored' : choice('status', body.status, ACK_STATUSES);
  const processedAt = optionalTime(body, 'processed_at');
  // AKEP's own receiver treats an empty reason as none.
  const reason = body.reason === '' ? null : optionalText(body, 'reason', 1000);
  return { status, processedAt, reason };
}

export function optionalTime(body: JsonObject, field: string): Micros | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  const at = typeof value === 'string' ? fromIso(value) : null;
  if (at === null) throw invalid(field, `${field} must be an ISO 8601 time.`);
  return at;
}

export function toSubscriptionBody(body: JsonObject): SubscriptionBody {
  // A subscription can be sent back as it was shown.
  const { subscription_id: _id, default: _default, created_at: _at, secret: _secret, ...rest } = body;
  const checked = checkSubscription(rest);
  if (!checked.ok) {
    throw new Fault(
      'invalid_field',
      `The subscription is not valid: ${checked.flaw.path} ${checked.flaw.message}.`,
      { field: checked.flaw.path },
    );
  }
  if (checked.value.delivery.type === 'queue') {
    throw invalid(
      '/delivery/type',
      'Delivery into a queue is not supported yet; use poll, long_poll, sse, websocket, relay or webhook.',
    );
  }
  return checked.value;
}

export function fromSubscription(s: Subscription) {
  return {
    subscription_id: s.id,
    ...s.body,
    ...(s.isDefault ? { default: true } : {}),
    created_at: toIso(s.createdAt),
  };
}

/** The reply to its maker: with the secret, if it was made now. */
export function fromSubscribed({ subscription, secret }: Subscribed) {
  return { ...fromSubscription(subscription), ...(secret === null ? {} : { secret }) };
}

export function toWait(
  body: JsonObject,
  made: { space: string; id: string; agent: string; now: Micros },
): Wait {
  refuseUnknown(body, WaitBody);
  const subject = body.subject ?? {};
  const plain =
    isJsonObject(subject) && Object.values(subject).every((v) => typeof v !== 'object' || v === null);
  if (!plain) throw invalid('subject', 'subject must be an object of plain values.');
  const types = body.event_types ?? null;
  if (
    types !== null &&
    !(
      Array.isArray(types) &&
      types.length > 0 &&
      types.every((t) => typeof t === 'string' && EVENT_TYPE.test(t))
    )
  ) {
    // A type that no event can have would be waited for in vain.
    throw invalid('event_types', 'event_types must be a list of event types; leave it out for any.');
  }
  const wait: Wait = {
    space: made.space,
    id: made.id,
    agent: made.agent,
    subject: subject as Wait['subject'],
    eventTypes: types as string[] | null,
    interruptId: optionalText(body, 'interrupt_id', 256),
    runStateRef: requiredText(body, 'run_state_ref', 2048),
    policy: body.policy == null ? null : choice('policy', body.policy, RESUME_POLICIES),
    expiresAt: toEnd(body, made.now),
    createdAt: made.now,
  };
  if (Object.keys(wait.subject).length === 0 && wait.eventTypes === null && wait.interruptId === null) {
    throw invalid('subject', 'A wait names at least one of subject, event_types and interrupt_id.');
  }
  return wait;
}

/** A misspelt condition would not narrow the wait, and a misspelt setting would change nothing. */
function refuseUnknown(body: JsonObject, { properties }: { properties: object }): void {
  const stranger = Object.keys(body).find((name) => !Object.hasOwn(properties, name));
  if (stranger === undefined) return;
  const known = Object.keys(properties).join(', ');
  throw invalid(stranger, `${JSON.stringify(stranger)} is unknown here; there are ${known}.`);
}

/** How late a wait may arrive that was meant to be short. */
const LATE: Micros = 60 * SECOND;

/** A wait that ended long before it begins would never be resumed, and nobody would know why. */
function toEnd(body: JsonObject, now: Micros): Micros | null {
  const at = optionalTime(body, 'expires_at');
  if (at === null || at > now - LATE) return at;
  throw invalid('expires_at', `expires_at has passed: it is ${toIso(now)} here. Check the clock.`);
}

export function fromWait(wait: Wait) {
  return {
    wait_id: wait.id,
    subject: wait.subject,
    event_types: wait.eventTypes,
    interrupt_id: wait.interruptId,
    run_state_ref: wait.runStateRef,
    policy: wait.policy,
    expires_at: toIsoOrNull(wait.expiresAt),
    created_at: toIso(wait.createdAt),
  };
}

export function toPolicy(body: JsonObject, before: InboxSettings): InboxSettings {
  refuseUnknown(body, PolicyChange);
  const given = body.max_resume_policy;
  const maxResumePolicy: ResumePolicy =
    given === undefined ? before.maxResumePolicy : choice('max_resume_policy', given, RESUME_POLICIES);
  const reviews = body.show_reviews;
  if (reviews !== undefined && typeof reviews !== 'boolean')
    throw invalid('show_reviews', 'show_reviews must be true or false.');
  return { maxResumePolicy, showReviews: reviews ?? before.showReviews };
}

export function fromPolicy(s: InboxSettings) {
  return { max_resume_policy: s.maxResumePolicy, show_reviews: s.showReviews };
}
