import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type Options = { challenge: string; rp?: { id?: string }; rpId?: string; user?: { id: string } };

const UP = 0x01;
const UV = 0x04;
const ATTESTED = 0x40;

/** A passkey device in software: it makes credentials and signs with them, and lies when a test asks it to. */
export class Authenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(16);
  readonly #origin: string;
  #userHandle = '';
  counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  get id(): string {
    return this.#id.toString('base64url');
  }

  /** What `navigator.credentials.create` answers. */
  make(options: Options, lie: Lie = {}): object {
    this.#userHandle = options.user?.id ?? '';
    const jwk = this.#keys.publicKey.export({ format: 'jwk' });
    const cose = isoCBOR.encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(jwk.x ?? '', 'base64url')],
        [-3, Buffer.from(jwk.y ?? '', 'base64url')],
      ]) as never,
    );
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, cose]);
    const authData = Buffer.concat([this.#data(options.rp?.id ?? '', ATTESTED, lie), credential]);
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.#answer({
      clientDataJSON: this.#client('webauthn.create', options, lie).toString('base64url'),
      attestationObject: Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** What `navigator.credentials.get` answers. */
  prove(options: Options, lie: Lie = {}): object {
    const client = this.#client('webauthn.get', options, lie);
    const data = this.#data(options.rpId ?? '', 0, lie);
    const hashed = createHash('sha256').update(client).digest();
    const signature = sign('sha256', Buffer.concat([data, hashed]), this.#keys.privateKey);
    if (lie.signature === true) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    return this.#answer({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: lie.userHandle ?? this.#userHandle,
    });
  }

  #client(type: string, { challenge }: Options, lie: Lie): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: lie.origin ?? this.#origin }));
  }

  #data(rpId: string, more: number, lie: Lie): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(lie.counter ?? ++this.counter);
    const flags = UP | (lie.unverified === true ? 0 : UV) | more;
    const hashed = createHash('sha256')
      .update(lie.rpId ?? rpId)
      .digest();
    return Buffer.concat([hashed, Buffer.of(flags), counter]);
  }

  #answer(response: object): object {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

export type Lie = {
  origin?: string;
  rpId?: string;
  unverified?: boolean;
  signature?: boolean;
  counter?: number;
  userHandle?: string;
};
