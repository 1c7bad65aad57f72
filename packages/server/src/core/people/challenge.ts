import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import { type Micros, SECOND } from '../time.ts';

const CHALLENGE_KEPT: Micros = 300 * SECOND;

/** What a passkey is asked to sign, and for whom; one that was asked for something else is worth nothing here. */
export type ChallengeFor = 'login' | `make:${string}` | `prove:${string}`;

/**
 * Nothing is stored when one is given out, so that asking costs no disk: it carries its end and our mac. What is
 * stored is that it was used.
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
  // Digests are compared, so that the time it takes tells nothing about the mac.
  return vault.sha256(mac) === vault.sha256(vault.mac(textOf(purpose, endsAt, nonce)));
}

/** Once. False when it was used before. */
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
