import { type Bytes, fromLooseBase64 } from './hmac.ts';

/** Ed25519 by WebCrypto, as Standard Webhooks writes its keys: `whsk_` to sign with, `whpk_` to check with (K24). */

// The header before the 32 bytes of a private key in PKCS #8, the only form that WebCrypto accepts.
const PKCS8_HEAD = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
const KEY_BYTES = 32;

export const isPrivateKey = (secret: string): boolean => secret.startsWith('whsk_');
export const isPublicKey = (secret: string): boolean => secret.startsWith('whpk_');

/** The bytes after the prefix; null when they are no key. Some tools append the public half to the private one. */
export function keyBytes(secret: string): Bytes | null {
  const bytes = fromLooseBase64(secret.slice('whpk_'.length));
  if (bytes === null || (bytes.length !== KEY_BYTES && !(isPrivateKey(secret) && bytes.length === 64)))
    return null;
  return bytes.slice(0, KEY_BYTES);
}

export async function signAsymmetric(key: Bytes, content: Bytes): Promise<Uint8Array> {
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...key]);
  const imported = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('Ed25519', imported, content));
}

/** False for anything that is not a valid signature, including a key that is not on the curve. */
export async function isSignedByOwner(key: Bytes, tag: Bytes, content: Bytes): Promise<boolean> {
  try {
    const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', imported, tag, content);
  } catch {
    return false;
  }
}
