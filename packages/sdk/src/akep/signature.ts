import { LanternError } from '../faults.ts';
import { isPrivateKey, isPublicKey, keyBytes, signAsymmetric } from '../signing/ed25519.ts';
import { type Bytes, fromLooseBase64, sign, signedContent, toBase64, toBytes } from '../signing/hmac.ts';

/** What is signed, with what, and when. */
export interface EventSigning {
  /** `whsec_…`; `whsk_…`, an Ed25519 key of your own (K24); or any other text, which is then used as it is (K2). */
  readonly secret: string;
  /** Sent along where the producer's keys have ids. */
  readonly keyId?: string | undefined;
  /** The `event_id`. */
  readonly id: string;
  /** Exactly the bytes that will be sent. */
  readonly body: string | Uint8Array;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
}

/** `webhook-id`, `webhook-timestamp`, `webhook-signature`, and the key's id where there is one. */
export type EventHeaders = Record<string, string>;

/**
 * The Standard Webhooks headers of one event (K1). `createProducer` does this by itself; a test of a receiver needs it.
 *
 * @example
 * const headers = await signEvent({ secret, id: event.event_id, body, timestamp: Math.floor(Date.now() / 1000) });
 * await fetch(receiver, { method: 'POST', headers, body });
 */
export async function signEvent(signing: EventSigning): Promise<EventHeaders> {
  const { id, timestamp, keyId } = signing;
  const key = signingKey(signing.secret);
  if (key === null || !Number.isSafeInteger(timestamp) || id === '' || id.includes('.')) {
    const message = 'Signing needs a secret, an id without a dot and a timestamp in whole seconds.';
    throw new LanternError('wrong_usage', message);
  }
  const content = signedContent(id, String(timestamp), toBytes(signing.body));
  const isOwn = isPrivateKey(signing.secret);
  const tag = await (isOwn ? signAsymmetric(key, content) : sign(key, content));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${isOwn ? 'v1a' : 'v1'},${toBase64(tag)}`,
    ...(keyId === undefined ? {} : { 'webhook-signature-key-id': keyId }),
  };
}

/** The key that signs with this secret; null when there is none. */
export function signingKey(secret: string): Bytes | null {
  return typeof secret === 'string' && isPrivateKey(secret) ? keyBytes(secret) : eventKey(secret);
}

/** `whsec_<base64>` decodes to the key; any other text is its own UTF-8 bytes (K2). Null when there is none. */
export function eventKey(secret: string): Bytes | null {
  if (typeof secret !== 'string' || secret === '') return null;
  // A public key is known to everybody, and a private key must not leave its owner: neither is a shared secret.
  if (isPublicKey(secret) || isPrivateKey(secret)) return null;
  const coded = /^whsec_([A-Za-z0-9+/_-]+={0,2})$/.exec(secret)?.[1];
  return coded === undefined ? toBytes(secret) : fromLooseBase64(coded);
}
