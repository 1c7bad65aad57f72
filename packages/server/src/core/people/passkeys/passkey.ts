import type { JsonObject } from '../../canonical.ts';
import type { PersonId, SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import type { Micros } from '../../time.ts';

/** A passkey as it is kept. The credential is sealed: whoever could exchange the public key could log in. */
export type PasskeyRecord = {
  space: SpaceId;
  id: string;
  person: PersonId;
  name: string;
  /** The hash of the credential's id, by which a login finds it. */
  digest: string;
  credential: Uint8Array;
  counter: number;
  isBackedUp: boolean;
  createdAt: Micros;
  lastUsedAt: Micros | null;
};

export type Credential = { id: string; publicKey: string; transports: string[] };

/** The site that a passkey is bound to: it works there and nowhere else. */
export type Party = { id: string; origin: string };

/** WebAuthn, behind an interface because a library does it. Null is a refusal, whatever the reason. */
export interface Passkeys {
  askToMake(ask: {
    party: Party;
    user: { id: string; email: string; name: string };
    known: readonly Credential[];
    challenge: string;
  }): Promise<object>;
  made(
    party: Party,
    response: JsonObject,
    isOurs: (challenge: string) => boolean,
  ): Promise<(Credential & { isBackedUp: boolean; counter: number; challenge: string }) | null>;
  askToProve(party: Party, challenge: string, known: readonly Credential[]): Promise<object>;
  proved(
    party: Party,
    response: JsonObject,
    known: { credential: Credential; counter: number; isOurs: (challenge: string) => boolean },
  ): Promise<{ counter: number; challenge: string } | null>;
}

/**
 * The site that passkeys are bound to, from the public URL. Browsers make none for a bare IP address; for loopback
 * the name `localhost` leads to the same place.
 */
export function partyOf(baseUrl: string): Party | null {
  const { protocol, hostname, port, origin } = new URL(baseUrl);
  if (hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost') {
    return { id: 'localhost', origin: `${protocol}//localhost${port === '' ? '' : `:${port}`}` };
  }
  const isBare = hostname.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(hostname);
  return isBare || protocol !== 'https:' ? null : { id: hostname, origin };
}

type Place = Pick<PasskeyRecord, 'space' | 'id' | 'person'>;

const identity = (p: Place) => `passkey:${p.space}:${p.id}:${p.person}`;

export function sealCredential(room: Room, place: Place, { id, publicKey, transports }: Credential) {
  return room.vault.seal(JSON.stringify({ id, publicKey, transports }), identity(place));
}

export function openCredential(room: Room, passkey: PasskeyRecord): Credential {
  const text = new TextDecoder().decode(room.vault.open(passkey.credential, identity(passkey)));
  return JSON.parse(text) as Credential;
}
