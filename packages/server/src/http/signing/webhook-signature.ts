import { createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { HmacKey } from './hmac.ts';

/** Standard Webhooks, on the receiving side: the transport's part, which knows no protocol. */
export type SignatureHeaders = {
  id: string;
  timestamp: string;
  signatures: readonly Signature[];
};

type Signature = { tag: 'v1' | 'v1a'; value: string };

export type HeaderFlaw = 'missing' | 'dot' | 'timestamp' | 'stale' | 'no_known_algorithm';

type Headers = Record<string, string | string[] | undefined>;

/** Reads the three headers and judges the time; the signature comes later. */
export function readSignature(
  headers: Headers,
  nowSeconds: number,
  freshSeconds: number,
): SignatureHeaders | HeaderFlaw {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signature = headers['webhook-signature'];
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string')
    return 'missing';
  if (id === '' || signature === '') return 'missing';
  if (id.includes('.') || timestamp.includes('.')) return 'dot';
  // Digits only: "abc", "1e9", "-1" and "" would otherwise turn into a NaN that passes every comparison.
  if (!/^\d{1,12}$/.test(timestamp)) return 'timestamp';
  if (Math.abs(nowSeconds - Number(timestamp)) > freshSeconds) return 'stale';
  const signatures = readAll(signature);
  return signatures.length === 0 ? 'no_known_algorithm' : { id, timestamp, signatures };
}

/** During a rotation there are two. The number is limited because each costs a comparison. */
const MOST_SIGNATURES = 16;

function readAll(header: string): Signature[] {
  const found: Signature[] = [];
  for (const part of header.includes(' ') ? header.split(' ') : [header]) {
    const tag = part.startsWith('v1,') ? 'v1' : part.startsWith('v1a,') ? 'v1a' : null;
    if (tag === null || found.length === MOST_SIGNATURES) continue;
    const value = part.slice(tag.length + 1);
    if (BASE64.test(value)) found.push({ tag, value });
  }
  return found;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** `whsec_<base64>` decodes to the key; any other text is its own UTF-8 bytes (K2). */
export function secretKey(secret: string): HmacKey {
  const m = /^whsec_([A-Za-z0-9+/_-]+={0,2})$/.exec(secret);
  return new HmacKey(m === null ? Buffer.from(secret) : Buffer.from(m[1] ?? '', 'base64'));
}

// DER header of an Ed25519 public key; the 32 bytes of the key follow.
const ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

/** `whpk_<base64>`, as Standard Webhooks writes an Ed25519 public key. */
export function publicKey(text: string): KeyObject {
  const bytes = Buffer.from(text.replace(/^whpk_/, ''), 'base64');
  return createPublicKey({ key: Buffer.concat([ED25519, bytes]), format: 'der', type: 'spki' });
}

/** Constant time, over the exact bytes. */
export function isSignedWith(key: HmacKey | KeyObject, headers: SignatureHeaders, body: Uint8Array): boolean {
  return key instanceof HmacKey ? isHmac(key, headers, body) : isEd25519(key, headers, body);
}

function isHmac(key: HmacKey, { id, timestamp, signatures }: SignatureHeaders, body: Uint8Array): boolean {
  const expected = key.digest(`${id}.${timestamp}.`, body);
  return signatures.some(({ tag, value }) => {
    const given = Buffer.from(value, 'base64');
    const equal = tag === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    return equal && isPlainBase64(value, given);
  });
}

function isEd25519(
  key: KeyObject,
  { id, timestamp, signatures }: SignatureHeaders,
  body: Uint8Array,
): boolean {
  const text = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.some(({ tag, value }) => {
    const given = Buffer.from(value, 'base64');
    return tag === 'v1a' && verify(null, text, key, given) && isPlainBase64(value, given);
  });
}

/** Without padding, or with unused bits set, one signature would have several spellings. */
function isPlainBase64(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64') === text;
}
