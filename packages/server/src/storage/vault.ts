import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { Vault } from '../core/room.ts';
import { canonicalJson } from './sealing/canonical.ts';
import { type KeptSecrets, keyIdOf, VaultKey } from './sealing/vault-key.ts';

// Short, because there is one for every word of every delivery. A collision within a space is next to impossible, and
// would only cause a surprising search result.
const WORD_KEY_BYTES = 8;

/**
 * Seals what must not be readable in a stolen file: AES-256-GCM with the row's identity as additional data. With
 * several master keys, one seals and all of them open: that is how a key is replaced while the data is in use.
 */
export class MasterVault implements Vault {
  readonly #keys: ReadonlyMap<string, VaultKey>;
  readonly #first: VaultKey;
  #current: VaultKey;
  #mac: KeyObject;
  #words: KeyObject;

  constructor(master: Uint8Array, others: readonly Uint8Array[] = []) {
    this.#first = new VaultKey(master);
    const keys = [this.#first, ...others.map((other) => new VaultKey(other))];
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#current = this.#first;
    this.#mac = createSecretKey(this.#first.kept.mac);
    this.#words = createSecretKey(this.#first.kept.words);
  }

  /** The key that seals. */
  get keyId(): string {
    return this.#current.id;
  }

  /** The key that was given first: the one that should seal. */
  get wantedKeyId(): string {
    return this.#first.id;
  }

  /** Whether we hold the key with this id. */
  opens(id: string): boolean {
    return this.#keys.has(id);
  }

  sealWith(id: string): void {
    this.#current = this.#key(id);
  }

  /** The secrets of a key that must outlive it. */
  keptOf(id: string): KeptSecrets {
    return this.#key(id).kept;
  }

  keep({ mac, words }: KeptSecrets): void {
    this.#mac = createSecretKey(mac);
    this.#words = createSecretKey(words);
  }

  /** Whether this record was sealed with the current key. */
  isCurrent(sealed: Uint8Array): boolean {
    return keyIdOf(sealed) === this.#current.id;
  }

  readonly sha256 = (text: string | Uint8Array): string => hash('sha256', text);

  readonly canonical = canonicalJson;

  seal(plain: string | Uint8Array, identity: string): Uint8Array {
    return this.#current.seal(plain, identity);
  }

  open(sealed: Uint8Array, identity: string): Uint8Array {
    const key = this.#keys.get(keyIdOf(sealed));
    if (key === undefined) throw new Error(`${identity} was sealed with another master key`);
    return key.open(sealed, identity);
  }

  readonly mac = (text: string): string => createHmac('sha256', this.#mac).update(text).digest('base64');

  wordKey(space: string, word: string): string {
    const key = createHmac('sha256', this.#words).update(`${space}\n${word}`).digest();
    return key.subarray(0, WORD_KEY_BYTES).toString('base64url');
  }

  readonly sealHead = (text: string): string => this.#current.sealHead(text);

  headMatches(text: string, seal: string): boolean {
    return [...this.#keys.values()].some((key) => key.headMatches(text, seal));
  }

  /** Whether this head was sealed with the current key. */
  isHeadCurrent(text: string, seal: string): boolean {
    return this.#current.headMatches(text, seal);
  }

  sign(text: string): string {
    return this.#current.sign(text);
  }

  verify(text: string, signature: string): boolean {
    return [...this.#keys.values()].some((key) => key.verify(text, signature));
  }

  isSignatureCurrent(text: string, signature: string): boolean {
    return this.#current.verify(text, signature);
  }

  #key(id: string): VaultKey {
    const key = this.#keys.get(id);
    if (key === undefined) throw new Error(`there is no master key ${id} here`);
    return key;
  }
}
