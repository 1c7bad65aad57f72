import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomFillSync,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import type { Vault } from '../core/room.ts';
import { canonicalJson } from './canonical.ts';

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
// There is one for every word of every delivery, so they are short. Two words of a space that share one are as good
// as impossible, and would cost no more than a surprising find.
const WORD_KEY_BYTES = 8;
// DER header of a PKCS#8 Ed25519 private key; the 32 bytes of the seed follow.
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

function derive(master: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'lanternroom', purpose, 32));
}

/** Random bytes are drawn in bulk: one call for each nonce would cost more than the cipher. */
class Nonces {
  readonly #pool = Buffer.alloc(NONCE * 512);
  #at = this.#pool.length;

  next(): Buffer {
    if (this.#at === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    this.#at += NONCE;
    return Buffer.from(this.#pool.subarray(this.#at - NONCE, this.#at));
  }
}

/**
 * Seals what must not be read from a stolen file: AES-256-GCM with the row's identity as additional data. The
 * record is `version · key id (4) · nonce (12) · tag (16) · ciphertext`.
 */
export class MasterVault implements Vault {
  readonly keyId: Buffer;
  readonly #sealing: KeyObject;
  readonly #mac: KeyObject;
  readonly #words: KeyObject;
  readonly #signing: KeyObject;
  readonly publicKey: string;
  readonly #verifying: KeyObject;
  readonly #nonces = new Nonces();

  constructor(master: Uint8Array) {
    this.keyId = Buffer.from(hash('sha256', derive(master, 'key id'), 'buffer')).subarray(0, 4);
    this.#sealing = createSecretKey(derive(master, 'sealing'));
    this.#mac = createSecretKey(derive(master, 'mac'));
    this.#words = createSecretKey(derive(master, 'words'));
    const der = Buffer.concat([ED25519, derive(master, 'checkpoints')]);
    this.#signing = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.#verifying = createPublicKey(this.#signing);
    this.publicKey = this.#verifying.export({ format: 'pem', type: 'spki' }).toString();
  }

  readonly sha256 = (text: string | Uint8Array): string => hash('sha256', text);

  readonly canonical = canonicalJson;

  seal(plain: string | Uint8Array, identity: string): Uint8Array {
    const nonce = this.#nonces.next();
    const cipher = createCipheriv('aes-256-gcm', this.#sealing, nonce);
    cipher.setAAD(Buffer.from(identity));
    const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    cipher.final();
    return Buffer.concat([Buffer.of(VERSION), this.keyId, nonce, cipher.getAuthTag(), body]);
  }

  open(sealed: Uint8Array, identity: string): Uint8Array {
    const record = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (record[0] !== VERSION || !record.subarray(1, 5).equals(this.keyId)) {
      throw new Error(`${identity} was sealed with another master key`);
    }
    const at = 5 + NONCE + TAG;
    const decipher = createDecipheriv('aes-256-gcm', this.#sealing, record.subarray(5, 5 + NONCE));
    decipher.setAAD(Buffer.from(identity));
    decipher.setAuthTag(record.subarray(5 + NONCE, at));
    const plain = decipher.update(record.subarray(at));
    decipher.final(); // throws unless every byte is as it was sealed, and has none of its own to give
    return plain;
  }

  readonly mac = (text: string): string => createHmac('sha256', this.#mac).update(text).digest('base64');

  wordKey(space: string, word: string): string {
    const key = createHmac('sha256', this.#words).update(`${space}\n${word}`).digest();
    return key.subarray(0, WORD_KEY_BYTES).toString('base64url');
  }

  macMatches(text: string, mac: string): boolean {
    const expected = Buffer.from(this.mac(text));
    const given = Buffer.from(mac);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#signing).toString('base64');
  }

  verify(text: string, signature: string): boolean {
    return verify(null, Buffer.from(text), this.#verifying, Buffer.from(signature, 'base64'));
  }
}
