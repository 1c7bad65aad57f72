import { LanternError } from '../faults.ts';
import {
  type Bytes,
  fromLooseBase64,
  sign,
  signedContent,
  toBase64,
  toBytes,
  toHex,
} from '../signing/hmac.ts';

/** HMAC-SHA256 twice over the same body: as WAKE v1.0 has it, and as Standard Webhooks has it (W20). */

/** What is signed, with what, and when. */
export interface Signing {
  /** One, or two during a rotation: all sign `webhook-signature`, the first one signs `X-Wake-Signature`. */
  readonly secrets: readonly string[];
  /** Exactly the bytes that will be sent. */
  readonly body: string | Uint8Array;
  /** `webhook-id`: the same for every retry. */
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  /** `X-Wake-Delivery-Id`; the `id` unless they differ. */
  readonly deliveryId?: string | undefined;
}

/** A type and not an interface, so that `fetch` takes it for headers. */
export type WebhookHeaders = {
  readonly 'content-type': 'application/json';
  readonly 'x-wake-signature': string;
  readonly 'x-wake-delivery-id': string;
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

const SECRET_PREFIX = 'whsec_';
const SHORTEST_SECRET = 16;

/**
 * All headers of a signed callback. What a server sends, and what a test of a receiver needs.
 *
 * @example
 * const headers = await signWebhook({ secrets: [secret], body, id: deliveryId, timestamp: Math.floor(Date.now() / 1000) });
 * await fetch(callback, { method: 'POST', headers, body });
 */
export async function signWebhook(signing: Signing): Promise<WebhookHeaders> {
  const [first] = signing.secrets;
  if (first === undefined || !Number.isSafeInteger(signing.timestamp)) {
    throw new LanternError(
      'wrong_usage',
      'Signing needs at least one secret and a timestamp in whole seconds.',
    );
  }
  const keys = signing.secrets.map(demandSecretBytes);
  const body = toBytes(signing.body);
  const content = signedContent(signing.id, String(signing.timestamp), body);
  const tags = await Promise.all(keys.map((key) => sign(key, content)));
  return {
    'content-type': 'application/json',
    'x-wake-signature': `sha256=${toHex(await sign(toBytes(first), body))}`,
    'x-wake-delivery-id': signing.deliveryId ?? signing.id,
    'webhook-id': signing.id,
    'webhook-timestamp': String(signing.timestamp),
    'webhook-signature': tags.map((tag) => `v1,${toBase64(tag)}`).join(' '),
  };
}

/**
 * The bytes of `whsec_…`, or the UTF-8 of an operator's own text that is not base64. Null when it is too short to be
 * safe.
 */
export function secretBytes(secret: string): Bytes | null {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  if (text.length < SHORTEST_SECRET) return null;
  return fromLooseBase64(text) ?? toBytes(secret);
}

function demandSecretBytes(secret: string): Bytes {
  const bytes = secretBytes(secret);
  if (bytes !== null) return bytes;
  const message = 'A callback secret is "whsec_" and at least 16 characters: make a new one.';
  throw new LanternError('wrong_usage', message);
}
