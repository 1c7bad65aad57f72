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
import { DAMAGED, Fault } from '../../core/faults.ts';

const VERSION = 1;
const ID = 4;
const NONCE = 12;
const TAG = 16;
// DER header of a PKCS#8 Ed25519 private key; the 32 bytes of the seed follow.
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

function derive(master: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'lanternroom', purpose, 32));
}

/** Random bytes are drawn in bulk: one call per nonce would cost more than the cipher. */
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

/** The id of the key that made a record; empty for what is no record of ours. */
export function keyIdOf(sealed: Uint8Array): string {
  if (sealed[0] !== VERSION) return '';
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    .subarray(1, 1 + ID)
    .toString('hex');
}

/** Secrets that outlive a rotation in part: cursors in readers' hands, and the word index. */
export type KeptSecrets = { mac: Buffer; words: Buffer };

/** Everything that is made with one master key. A record is `version · key id (4) · nonce (12) · tag (16) · ciphertext`. */
export class VaultKey {
  readonly id: string;
  readonly kept: KeptSecrets;
  readonly #idBytes: Buffer;
  readonly #sealing: KeyObject;
  readonly #heads: KeyObject;
  readonly #signing: KeyObject;
  readonly #verifying: KeyObject;
  readonly #nonces = new Nonces();

  constructor(master: Uint8Array) {
    this.#idBytes = Buffer.from(hash('sha256', derive(master, 'key id'), 'buffer')).subarray(0, ID);
    this.id = this.#idBytes.toString('hex');
    this.#sealing = createSecretKey(derive(master, 'sealing'));
    this.kept = { mac: derive(master, 'mac'), words: derive(master, 'words') };
    this.#heads = createSecretKey(this.kept.mac);
    const der = Buffer.concat([ED25519, derive(master, 'checkpoints')]);
    this.#signing = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.#verifying = createPublicKey(this.#signing);
  }

  seal(plain: string | Uint8Array, identity: string): Uint8Array {
    const nonce = this.#nonces.next();
    const cipher = createCipheriv('aes-256-gcm', this.#sealing, nonce);
    cipher.setAAD(Buffer.from(identity));
    const body = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    cipher.final();
    return Buffer.concat([Buffer.of(VERSION), this.#idBytes, nonce, cipher.getAuthTag(), body]);
  }

  open(sealed: Uint8Array, identity: string): Uint8Array {
    const record = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    const nonceAt = 1 + ID;
    const at = nonceAt + NONCE + TAG;
    try {
      const decipher = createDecipheriv(
        'aes-256-gcm',
        this.#sealing,
        record.subarray(nonceAt, nonceAt + NONCE),
      );
      decipher.setAAD(Buffer.from(identity));
      decipher.setAuthTag(record.subarray(nonceAt + NONCE, at));
      const plain = decipher.update(record.subarray(at));
      decipher.final(); // throws unless every byte is as it was sealed, and has none of its own to give
      return plain;
    } catch (reason) {
      const cause = new Error(`${identity} does not open: it was changed, or is of another row`, {
        cause: reason,
      });
      throw new Fault('unavailable', DAMAGED, { retryAfter: 60, cause });
    }
  }

  sealHead(text: string): string {
    return createHmac('sha256', this.#heads).update(text).digest('base64');
  }

  headMatches(text: string, seal: string): boolean {
    const expected = Buffer.from(this.sealHead(text));
    const given = Buffer.from(seal);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#signing).toString('base64');
  }

  verify(text: string, signature: string): boolean {
    return verify(null, Buffer.from(text), this.#verifying, Buffer.from(signature, 'base64'));
  }
}
