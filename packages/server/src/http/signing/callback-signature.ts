import type { WebhookHeaders } from '@lanternroom/sdk/wake';
import { entry, ShortMemory } from '../../core/maps.ts';
import { HmacKey } from './hmac.ts';

export type CallbackSigning = {
  /** One, or two during a rotation. */
  secrets: readonly string[];
  /** Exactly the bytes that will be sent. */
  body: Uint8Array;
  id: string;
  /** Seconds since 1970, of this attempt. */
  timestamp: number;
};

/**
 * The headers of a signed callback (W20). The SDK's `signWebhook` makes the same ones on every runtime but takes
 * three times as long: it has only WebCrypto, and parses the secrets for every call. The test vectors of the
 * specification hold both to the same result.
 */
export function signCallback({ secrets, body, id, timestamp }: CallbackSigning): WebhookHeaders {
  const keys = secrets.map(keysOf);
  const [first] = keys;
  if (first === undefined) throw new Error('nothing can be signed without a secret');
  const tags = keys.map(({ standard }) => standard.digest(`${id}.${timestamp}.`, body));
  return {
    'content-type': 'application/json',
    'x-wake-signature': `sha256=${first.wake.digest('', body).toString('hex')}`,
    'x-wake-delivery-id': id,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': tags.map((tag) => `v1,${tag.toString('base64')}`).join(' '),
  };
}

/** WAKE signs with the secret as it is written, Standard Webhooks with the bytes that it stands for. */
type Keys = { wake: HmacKey; standard: HmacKey };

const known = new ShortMemory<string, Keys>(10_000);

function keysOf(secret: string): Keys {
  return entry(known, secret, () => readSecret(secret));
}

const SHORTEST_SECRET = 16;
/** In either alphabet; whether padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

function readSecret(secret: string): Keys {
  const written = Buffer.from(secret);
  const text = secret.replace(/^whsec_/, '');
  if (text.length < SHORTEST_SECRET) throw new Error('a callback secret is too short to sign with');
  const letters = text.replace(/={1,2}$/, '');
  const padded = letters.padEnd(Math.ceil(letters.length / 4) * 4, '=');
  // A secret that an operator wrote and that is not base64 stands for its own bytes.
  const standard = BASE64.test(padded) ? Buffer.from(padded, 'base64') : written;
  return { wake: new HmacKey(written), standard: new HmacKey(standard) };
}
