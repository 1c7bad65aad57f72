import type { KeyObject } from 'node:crypto';
import { isActive } from '../../../core/agents/key.ts';
import { type Arriving, type Ingested, ingest, type Subscriptions } from '../../../core/events/ingest.ts';
import type { Algorithm, Producer, ProducerKey } from '../../../core/events/producer.ts';
import type { VerifyingKey } from '../../../core/events/store.ts';
import { Fault, isFault, orThrow } from '../../../core/faults.ts';
import type { SpaceId } from '../../../core/ids.ts';
import { entry, ShortMemory } from '../../../core/maps.ts';
import { type Micros, toIso } from '../../../core/time.ts';
import type { Shell } from '../../../http/shell.ts';
import type { HmacKey } from '../../../http/signing/hmac.ts';
import {
  type HeaderFlaw,
  isSignedWith,
  publicKey,
  readSignature,
  type SignatureHeaders,
  secretKey,
} from '../../../http/signing/webhook-signature.ts';
import type { Sent } from '../request.ts';
import { LIMITS } from '../schema.ts';
import { toEnvelope } from './envelope.ts';
import type { RefusalNotes } from './refusals.ts';
import type { SigningKeys } from './signing-keys.ts';

const FLAWS: Record<HeaderFlaw, string> = {
  missing: 'Send the headers webhook-id, webhook-timestamp and webhook-signature.',
  dot: 'webhook-id and webhook-timestamp must not contain a dot.',
  timestamp: 'webhook-timestamp must be whole seconds, digits only.',
  stale: 'webhook-timestamp is more than five minutes off. Check the clock.',
  no_known_algorithm: 'webhook-signature has no signature in an algorithm we know (v1).',
};

/** A wrong signature and an unknown producer answer alike: nobody learns which producers exist (K3). */
function notSigned(): Fault {
  return new Fault('bad_signature', 'No signature is valid for a producer that is known here.');
}

/** Remembered, because parsing a secret costs more than the hash. */
const keyObjects = new ShortMemory<string, HmacKey | KeyObject>(10_000);

function keyObject({ secret, key }: VerifyingKey): HmacKey | KeyObject {
  return entry(keyObjects, secret, () => (key.algorithm === 'v1a' ? publicKey(secret) : secretKey(secret)));
}

type Claimed = { headers: SignatureHeaders; keyId: string | null };
type Signed = { producer: Producer; keyId: string | null; algorithm: Algorithm; headers: SignatureHeaders };

/** What the door for producers needs. */
export type Receiving = {
  shell: Shell;
  keys: SigningKeys;
  subscriptions: Subscriptions;
  refusals: RefusalNotes;
};

function readHeaders({ shell: { room } }: Receiving, request: Sent): Claimed {
  const now = Math.floor(room.clock.now() / 1_000_000);
  const headers = readSignature(request.headers, now, LIMITS.freshSeconds);
  if (typeof headers === 'string') throw new Fault('bad_signature', FLAWS[headers]);
  const named = request.headers['webhook-signature-key-id'];
  return { headers, keyId: typeof named === 'string' && named !== '' ? named : null };
}

/** Which of the possible keys has signed these bytes. The body is not parsed before that. */
function findSigner(
  { shell, refusals }: Receiving,
  request: Sent,
  { headers, keyId }: Claimed,
  candidates: readonly VerifyingKey[],
): Signed {
  const now = shell.room.clock.now();
  const found = candidates.find(
    (candidate) => isActive(candidate.key, now) && isSignedWith(keyObject(candidate), headers, request.body),
  );
  if (found !== undefined)
    return { producer: found.producer, keyId, algorithm: found.key.algorithm, headers };
  const [meant] = keyId === null ? [] : candidates;
  if (meant !== undefined) refusals.note(meant.producer, headers.id, whyNotSigned(meant.key, now));
  throw notSigned();
}

/** For the owner of the key alone; outside, all of it is a wrong signature (K3). */
function whyNotSigned(key: ProducerKey, now: Micros): Fault {
  if (isActive(key, now)) return notSigned();
  const end = key.revokedAt === null ? 'expired' : 'was revoked';
  const at = toIso(key.revokedAt ?? key.expiresAt ?? now);
  return new Fault('bad_signature', `The key ${key.id} ${end} at ${at}. Sign with a key that is valid.`);
}

/** `POST /akep/events`: verify, parse, check, store. */
export async function receive(receiving: Receiving, request: Sent, space: SpaceId | null): Promise<Ingested> {
  const claimed = readHeaders(receiving, request);
  const candidates = receiving.keys.find({ keyId: claimed.keyId, space });
  const known = candidates instanceof Promise ? await candidates : candidates;
  const signed = findSigner(receiving, request, claimed, known);
  receiving.shell.producersSeen.note(signed.producer.space, signed.producer.id);
  try {
    return orThrow(await take(receiving, request, signed));
  } catch (reason) {
    if (isFault(reason)) receiving.refusals.note(signed.producer, signed.headers.id, reason);
    throw reason;
  }
}

function take(
  { shell, subscriptions }: Receiving,
  request: Sent,
  { producer, keyId, algorithm, headers }: Signed,
): Promise<Ingested | Fault> | Fault {
  const carried = { ...request, messageId: headers.id };
  const { envelope, kept } = toEnvelope(carried, producer, shell.room.clock.now());
  if (headers.id !== envelope.event_id) {
    const message = 'webhook-id must be the event_id of the event.';
    return new Fault('invalid_field', message, { field: 'webhook-id' });
  }
  const rate = shell.about.producerRate;
  const arriving: Arriving = { producer, keyId, algorithm, envelope, raw: request.body, kept, rate };
  return ingest(shell.room, subscriptions, arriving);
}
