/** Bytes, their spellings, and HMAC-SHA256 by WebCrypto, which every runtime has. */

// Written this way because TypeScript before 5.7 has no `Uint8Array<ArrayBuffer>` and must be able to read this.
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

export async function sign(key: Bytes, content: Bytes): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content));
}

/** Constant time: WebCrypto compares. A tag of any other length is simply wrong. */
export async function isSignedBy(key: Bytes, tag: Bytes, content: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['verify']);
  return crypto.subtle.verify('HMAC', imported, tag, content);
}

/** What Standard Webhooks signs. */
export function signedContent(id: string, timestamp: string, body: Bytes): Bytes {
  const head = toBytes(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

const UTF8 = new TextEncoder();

export function toBytes(value: string | Uint8Array): Bytes {
  return new Uint8Array(typeof value === 'string' ? UTF8.encode(value) : value);
}

export function fromHex(text: string): Bytes | null {
  if (!/^([0-9a-f]{2})+$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function fromBase64(text: string): Bytes | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Secrets from elsewhere are often URL-safe base64, or lack the padding. */
export function fromLooseBase64(text: string): Bytes | null {
  const letters = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  return fromBase64(letters.padEnd(Math.ceil(letters.length / 4) * 4, '='));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
