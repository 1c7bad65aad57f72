import { hash } from 'node:crypto';
import {
  type CryptoKey,
  exportJWK,
  FlattenedSign,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import type { JsonObject } from '../../core/canonical.ts';
import type { Room } from '../../core/room.ts';
import { rotateSigningKey, signingKeys } from '../../core/tasks/push/signing.ts';
import type { SigningKey } from '../../core/tasks/store.ts';
import { type Micros, SECOND } from '../../core/time.ts';

const ALGORITHM = 'ES256';
/** The store is asked again this often: another replica may have rotated. */
const LOOK_EVERY: Micros = 60 * SECOND;
const JWT_GOOD_FOR_SECONDS = 300;

type Loaded = { id: string; key: CryptoKey | Uint8Array; publicJwk: JWK };

/** Signs what goes out in the server's own name: agent cards and push notifications (A3, A18). */
export class Signer {
  readonly #room: Room;
  #loaded: Promise<Loaded[]> | null = null;
  #lookAt: Micros = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  /** For `/.well-known/jwks.json`: two during a rotation. */
  async jwks(): Promise<{ keys: JWK[] }> {
    return { keys: (await this.#keys()).map(({ publicJwk }) => publicJwk) };
  }

  async currentId(): Promise<string> {
    return (await this.#current()).id;
  }

  async signCard(card: JsonObject, jku: string): Promise<{ protected: string; signature: string }> {
    const { id, key } = await this.#current();
    const payload = new TextEncoder().encode(this.#room.vault.canonical(card));
    const header = { alg: ALGORITHM, typ: 'JOSE', kid: id, jku };
    const signed = await new FlattenedSign(payload).setProtectedHeader(header).sign(key);
    return { protected: signed.protected ?? '', signature: signed.signature };
  }

  /** A token that says who sends which body to whom, valid for a few minutes. */
  async signBody(body: string, about: { issuer: string; audience: string; id: string }): Promise<string> {
    const { id, key } = await this.#current();
    const now = Math.floor(this.#room.clock.now() / SECOND);
    return new SignJWT({ request_body_sha256: hash('sha256', body) })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: id })
      .setIssuer(about.issuer)
      .setAudience(about.audience)
      .setJti(about.id)
      .setIssuedAt(now)
      .setExpirationTime(now + JWT_GOOD_FOR_SECONDS)
      .sign(key);
  }

  async rotate(): Promise<void> {
    const keys = await rotateSigningKey(this.#room, () => this.#make()).then(loadAll);
    this.#loaded = Promise.resolve(keys);
  }

  async #current(): Promise<Loaded> {
    const [first] = await this.#keys();
    if (first === undefined) throw new Error('there is no signing key');
    return first;
  }

  #keys(): Promise<Loaded[]> {
    const now = this.#room.clock.now();
    if (this.#loaded === null || now >= this.#lookAt) {
      this.#lookAt = now + LOOK_EVERY;
      const loading = signingKeys(this.#room, () => this.#make()).then(loadAll);
      this.#loaded = loading;
      // A failure of the store must not be remembered as an answer.
      loading.catch(() => {
        if (this.#loaded === loading) this.#loaded = null;
      });
    }
    return this.#loaded;
  }

  async #make(): Promise<SigningKey> {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const jwk = JSON.stringify(await exportJWK(privateKey));
    const id = `key-${this.#room.ids.letters(12)}`;
    return { id, jwk, createdAt: this.#room.clock.now(), retiredAt: null };
  }
}

function loadAll(keys: readonly SigningKey[]): Promise<Loaded[]> {
  return Promise.all(keys.map(load));
}

async function load({ id, jwk }: SigningKey): Promise<Loaded> {
  const whole = JSON.parse(jwk) as JWK;
  const { d: _, ...open } = whole;
  return {
    id,
    key: await importJWK(whole, ALGORITHM),
    publicJwk: { ...open, kid: id, alg: ALGORITHM, use: 'sig' },
  };
}
