import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { type Micros, SECOND } from '../../time.ts';

const CHALLENGE_KEPT: Micros = 300 * SECOND;

/** What a passkey's signature is good for; a challenge made for one purpose is worth nothing for another. */
export type ChallengeFor = 'login' | `make:${string}` | `prove:${string}`;

/**
 * A challenge is not stored when it is given out, so that asking costs no disk: it carries its own expiry and our
 * MAC. Only its use is stored.
 */
export function makeChallenge(room: Room, purpose: ChallengeFor): string {
  const end = room.clock.now() + CHALLENGE_KEPT;
  const nonce = room.ids.letters(32);
  return `${end}.${nonce}.${room.vault.mac(textOf(purpose, end, nonce))}`;
}

export function isOurChallenge(room: Room, purpose: ChallengeFor, challenge: string): boolean {
  const [end = '', nonce = '', mac = ''] = challenge.split('.');
  const endsAt = Number(end);
  if (!Number.isSafeInteger(endsAt) || endsAt <= room.clock.now()) return false;
  const { vault } = room;
  // Digests are compared, so that timing reveals nothing about the MAC.
  return vault.sha256(mac) === vault.sha256(vault.mac(textOf(purpose, endsAt, nonce)));
}

/** Marks a challenge as used. False when it was used before. */
export async function useChallenge(room: Room, tx: Tx, challenge: string): Promise<boolean> {
  const digest = room.vault.sha256(challenge);
  const now = room.clock.now();
  if (await tx.passkeys.wasUsed(digest)) return false;
  await tx.passkeys.forgetUsed(now);
  await tx.passkeys.markUsed(digest, now + CHALLENGE_KEPT);
  return true;
}

function textOf(purpose: ChallengeFor, end: Micros, nonce: string): string {
  return `passkey-challenge\n${purpose}\n${end}\n${nonce}`;
}
