import { isRecord, parseJson } from '../json.ts';
import { isPublicKey, keyBytes } from '../signing/ed25519.ts';
import {
  bodyOf,
  type SignedRequest,
  type StandardFlaw,
  secretsOf,
  standardFlaw,
  standardOf,
} from '../signing/signed-request.ts';
import { eventKey } from './signature.ts';
import type { AkepEvent } from './wire.ts';

/** A request as it arrived: the raw body, before any parser, and its headers. */
export type EventRequest = SignedRequest;

/** Why an event is not genuine, or is none. For the log; a sender need not know. */
export type EventRefusal = StandardFlaw | 'no_signature' | 'bad_id' | 'bad_body' | 'wrong_event';

/** Whether it may be believed. */
export type VerifiedEvent =
  | { readonly ok: true; readonly event: AkepEvent }
  | { readonly ok: false; readonly reason: EventRefusal };

/**
 * Whether an event that arrived at a receiver of your own is genuine. Never throws, compares in constant time, and
 * reads the body only after somebody has vouched for it (K1, K3). A secret that begins with `whpk_` is the sender's
 * public Ed25519 key (`v1a`, K24).
 *
 * @example
 * const result = await verifyEvent({ secret: process.env.AKEP_WEBHOOK_SECRET, body: rawBody, headers: request.headers });
 * if (!result.ok) return reply(400, result.reason);
 * await keep(result.event);
 */
export async function verifyEvent(request: EventRequest): Promise<VerifiedEvent> {
  const reason = await findFlaw(request);
  if (reason !== null) return { ok: false, reason };
  const event = readEvent(request.body);
  if (event === null) return { ok: false, reason: 'bad_body' };
  const isNamed = standardOf(request.headers)?.id === event.event_id;
  return isNamed ? { ok: true, event } : { ok: false, reason: 'wrong_event' };
}

async function findFlaw(request: EventRequest): Promise<EventRefusal | null> {
  const secrets = secretsOf(request);
  const body = bodyOf(request.body);
  if (secrets === null) return 'bad_secret';
  if (body === null) return 'bad_body';
  const standard = standardOf(request.headers);
  if (standard === null) return 'no_signature';
  // With a dot in the id, two different pairs of id and time would be signed as the same text.
  if (standard.id?.includes('.')) return 'bad_id';
  const keys = secrets.map(eventKey).filter((key) => key !== null);
  const publicKeys = secrets
    .filter(isPublicKey)
    .map(keyBytes)
    .filter((key) => key !== null);
  return standardFlaw(standard, { keys, publicKeys, body, request });
}

function readEvent(body: unknown): AkepEvent | null {
  const bytes = bodyOf(body);
  const value = bytes === null ? null : parseJson(new TextDecoder().decode(bytes));
  return isEvent(value) ? value : null;
}

/** Enough of an envelope to be handled as one; the server checks the full schema. */
export function isEvent(value: unknown): value is AkepEvent {
  return (
    isRecord(value) &&
    typeof value.spec === 'string' &&
    /^akep\.v1(\.\d+)?$/.test(value.spec) &&
    typeof value.event_id === 'string' &&
    typeof value.event_type === 'string' &&
    [value.source, value.subject, value.knowledge, value.routing].every(isRecord)
  );
}
