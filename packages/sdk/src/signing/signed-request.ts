import { isRecord } from '../json.ts';
import { isSignedByOwner } from './ed25519.ts';
import { type Bytes, fromBase64, isSignedBy, signedContent, toBytes } from './hmac.ts';

/** Reading a signed request, whatever arrived: nothing here throws. Standard Webhooks, for callbacks and events. */

export interface SignedRequest {
  readonly secret?: string | undefined;
  /** Instead of `secret`, while one is being replaced: any of them may have signed. */
  readonly secrets?: readonly string[] | undefined;
  /** The raw body as it arrived, before any parsing. */
  readonly body: string | Uint8Array | ArrayBuffer;
  /** `Headers`, or an object as Node and the frameworks have it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** How old, or how far ahead, a timestamp may be: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: number | undefined;
}

export interface StandardHeaders {
  readonly id: string | null;
  readonly timestamp: string | null;
  readonly signature: string | null;
}

export type StandardFlaw =
  | 'incomplete_headers'
  | 'bad_timestamp'
  | 'stale_timestamp'
  | 'bad_secret'
  | 'bad_signature';

const TOLERANCE_SECONDS = 300;
// No honest sender has more than a handful; without a limit a header is work for the receiver.
const MOST_TAGS = 8;

export function standardOf(headers: unknown): StandardHeaders | null {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signature = headerOf(headers, 'webhook-signature');
  // One header is enough to require all three: leaving two out must not switch the freshness check off.
  return id === null && timestamp === null && signature === null ? null : { id, timestamp, signature };
}

export async function standardFlaw(
  headers: StandardHeaders,
  given: { keys: readonly Bytes[]; publicKeys?: readonly Bytes[]; body: Bytes; request: SignedRequest },
): Promise<StandardFlaw | null> {
  const { id, timestamp, signature } = headers;
  if (!id || !timestamp || !signature) return 'incomplete_headers';
  // Digits only: Number('soon') is NaN, and every comparison with NaN would pass or fail the wrong way.
  if (!/^\d{1,12}$/.test(timestamp)) return 'bad_timestamp';
  const ageSeconds = Math.floor((given.request.now ?? Date.now()) / 1_000) - Number(timestamp);
  const isFresh = Math.abs(ageSeconds) <= (given.request.toleranceSeconds ?? TOLERANCE_SECONDS);
  if (!isFresh) return 'stale_timestamp';
  const { keys, publicKeys = [] } = given;
  if (keys.length + publicKeys.length === 0) return 'bad_secret';
  const content = signedContent(id, timestamp, given.body);
  if (await holdsAny(keys, tagsOf(signature, 'v1,', / +/, fromBase64), content)) return null;
  const own = tagsOf(signature, 'v1a,', / +/, fromBase64);
  return (await holdsAny(publicKeys, own, content, isSignedByOwner)) ? null : 'bad_signature';
}

export async function holdsAny(
  keys: readonly Bytes[],
  tags: readonly Bytes[],
  content: Bytes,
  holds: (key: Bytes, tag: Bytes, content: Bytes) => Promise<boolean> = isSignedBy,
): Promise<boolean> {
  const pairs = keys.flatMap((key) => tags.map((tag) => holds(key, tag, content)));
  return (await Promise.all(pairs)).includes(true);
}

export function tagsOf(
  header: string,
  prefix: string,
  gap: RegExp,
  read: (text: string) => Bytes | null,
): Bytes[] {
  const parts = header.trim().split(gap).slice(0, MOST_TAGS);
  return parts
    .map((part) => (part.startsWith(prefix) ? read(part.slice(prefix.length)) : null))
    .filter((tag) => tag !== null);
}

export function secretsOf(request: SignedRequest): readonly string[] | null {
  const given: readonly unknown[] = Array.isArray(request.secrets) ? request.secrets : [request.secret];
  const secrets = given.filter((secret) => typeof secret === 'string').filter((secret) => secret !== '');
  return secrets.length === 0 || secrets.length < given.length ? null : secrets;
}

export function bodyOf(body: unknown): Bytes | null {
  if (typeof body === 'string' || body instanceof Uint8Array) return toBytes(body);
  return body instanceof ArrayBuffer ? new Uint8Array(body) : null;
}

/** One header, in any case. A header that came twice counts as empty: nobody should choose between the two. */
export function headerOf(headers: unknown, name: string): string | null {
  if (!isRecord(headers)) return null;
  if (headers instanceof Headers) return headers.get(name);
  const values = Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value);
  const [only] = values;
  if (values.length === 0) return null;
  return values.length === 1 && typeof only === 'string' ? only : '';
}
