import {
  createHmac,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto';

/** Standard Webhooks, on the receiving side: the transport's part, which knows no protocol. */
export type SignatureHeaders = {
  id: string;
  timestamp: string;
  signatures: readonly { tag: string; value: string }[];
};

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
  const signatures = signature.split(' ').flatMap(readOne).slice(0, MOST_SIGNATURES);
  return signatures.length === 0 ? 'no_known_algorithm' : { id, timestamp, signatures };
}

/** During a rotation there are two; each one of them costs a comparison. */
const MOST_SIGNATURES = 16;

function readOne(part: string): { tag: string; value: string }[] {
  const m = /^(v1a?),([A-Za-z0-9+/]+={0,2})$/.exec(part);
  return m === null ? [] : [{ tag: m[1] ?? '', value: m[2] ?? '' }];
}

/** `whsec_<base64>` decodes to the key; any other text is its own UTF-8 bytes (K2). */
export function secretKey(secret: string): KeyObject {
  const m = /^whsec_([A-Za-z0-9+/_-]+={0,2})$/.exec(secret);
  return createSecretKey(m === null ? Buffer.from(secret) : Buffer.from(m[1] ?? '', 'base64'));
}

// DER header of an Ed25519 public key; the 32 bytes of the key follow.
const ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

/** `whpk_<base64>`, as Standard Webhooks writes an Ed25519 public key. */
export function publicKey(text: string): KeyObject {
  const bytes = Buffer.from(text.replace(/^whpk_/, ''), 'base64');
  return createPublicKey({ key: Buffer.concat([ED25519, bytes]), format: 'der', type: 'spki' });
}

/** Constant time, over the exact bytes. */
export function isSignedWith(key: KeyObject, headers: SignatureHeaders, body: Uint8Array): boolean {
  return key.type === 'secret' ? isHmac(key, headers, body) : isEd25519(key, headers, body);
}

function isHmac(key: KeyObject, { id, timestamp, signatures }: SignatureHeaders, body: Uint8Array): boolean {
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.some(({ tag, value }) => {
    const given = Buffer.from(value, 'base64');
    return tag === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function isEd25519(
  key: KeyObject,
  { id, timestamp, signatures }: SignatureHeaders,
  body: Uint8Array,
): boolean {
  const text = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return signatures.some(
    ({ tag, value }) => tag === 'v1a' && verify(null, text, key, Buffer.from(value, 'base64')),
  );
}
