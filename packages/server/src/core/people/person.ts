import type { PersonId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

export const ROLES = ['owner', 'decider', 'reader'] as const;
export type Role = (typeof ROLES)[number];

export type Person = {
  space: SpaceId;
  id: PersonId;
  email: string;
  name: string;
  role: Role;
  passwordHash: string | null;
  createdAt: Micros;
};

export type SessionRecord = {
  space: SpaceId;
  digest: string;
  person: PersonId;
  createdAt: Micros;
  expiresAt: Micros;
  /** When the person last proved who they are: at the login, or again since. */
  provedAt: Micros;
  /** The browser it was opened in, in a few words; null when that is not known. */
  device: string | null;
};

export type TokenRecord = {
  space: SpaceId;
  id: string;
  person: PersonId;
  name: string;
  digest: string;
  lastFour: string;
  createdAt: Micros;
  revokedAt: Micros | null;
};

const RANK: Record<Role, number> = { reader: 0, decider: 1, owner: 2 };

export function mayAct(role: Role, needed: Role): boolean {
  return RANK[role] >= RANK[needed];
}

/**
 * Asked in the transaction that gives somebody a way in: they may have been removed or reset while their password was
 * checked.
 */
export async function hasChanged(
  tx: { people: { get(id: PersonId): Promise<Person | null> } },
  person: Person,
): Promise<boolean> {
  const now = await tx.people.get(person.id);
  return now === null || now.passwordHash !== person.passwordHash;
}

/**
 * One spelling per e-mail address: accented letters have two Unicode forms, and pasted text brings invisible
 * characters along. Otherwise two accounts could look the same.
 */
export function foldEmail(email: string): string {
  const visible = email.replace(/\p{Cf}/gu, '').trim();
  // Last: what is left out may have stood between a letter and its mark, and ǰ has one form where its capital has two.
  return visible.toLowerCase().normalize('NFC');
}

export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(text);
}
