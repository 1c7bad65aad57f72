import type { PersonId } from '../ids.ts';
import type { Micros } from '../time.ts';
import type { Invitation } from './membership/invitation.ts';
import type { Reset } from './membership/reset.ts';
import type { PasskeyRecord } from './passkeys/passkey.ts';
import type { Person, Role, SessionRecord, TokenRecord } from './person.ts';

export interface PersonRows {
  insert(person: Person): Promise<void>;
  get(id: PersonId): Promise<Person | null>;
  byEmail(email: string): Promise<Person | null>;
  list(): Promise<Person[]>;
  /** Null ends the password; a reset link or a passkey is then the way in. */
  setPassword(id: PersonId, passwordHash: string | null): Promise<void>;
  setRole(id: PersonId, role: Role): Promise<void>;
  /** Removes address and password; the name stays for the decisions made under it. */
  remove(id: PersonId, at: Micros): Promise<void>;
  /** When the person last sat down at the desk. */
  satAt(id: PersonId): Promise<Micros | null>;
  setSatAt(id: PersonId, at: Micros): Promise<void>;
  listSessions(person: PersonId): Promise<SessionRecord[]>;
  insertSession(session: SessionRecord): Promise<void>;
  setProved(digest: string, at: Micros): Promise<void>;
  deleteSession(digest: string): Promise<number>;
  deleteSessionsOf(person: PersonId): Promise<number>;
  deleteExpiredSessions(now: Micros): Promise<number>;
  insertToken(token: TokenRecord): Promise<void>;
  listTokens(person: PersonId): Promise<TokenRecord[]>;
  revokeToken(id: string, at: Micros): Promise<number>;
}

export interface PasskeyRows {
  insert(passkey: PasskeyRecord): Promise<void>;
  of(person: PersonId): Promise<PasskeyRecord[]>;
  rename(id: string, name: string): Promise<void>;
  used(id: string, counter: number, at: Micros): Promise<void>;
  remove(id: string): Promise<void>;
  removeOf(person: PersonId): Promise<void>;
  /** Whether a challenge was used; remembered until it would have expired by itself. */
  wasUsed(digest: string): Promise<boolean>;
  markUsed(digest: string, expiresAt: Micros): Promise<void>;
  forgetUsed(now: Micros): Promise<void>;
}

/** At most one for each person. */
export interface ResetRows {
  put(reset: Reset): Promise<void>;
  of(person: PersonId): Promise<Reset | null>;
  remove(person: PersonId): Promise<void>;
  removeGivenBy(giver: PersonId): Promise<void>;
}

/** What is kept of a person's preferences; the digest's address is sealed. */
export type StoredPreferences = { settings: string; target: Uint8Array | null; digestAt: Micros | null };

export interface PreferenceRows {
  get(person: PersonId): Promise<StoredPreferences | null>;
  put(person: PersonId, stored: StoredPreferences): Promise<void>;
  remove(person: PersonId): Promise<void>;
}

export interface InvitationRows {
  insert(invitation: Invitation): Promise<void>;
  /** Those that nobody has accepted, newest first. */
  open(): Promise<Invitation[]>;
  accept(id: string, at: Micros): Promise<void>;
  remove(id: string): Promise<void>;
  removeOpenFor(email: string): Promise<void>;
}

/** What a transaction offers about people. */
export interface PersonTx {
  readonly people: PersonRows;
  readonly preferences: PreferenceRows;
  readonly invitations: InvitationRows;
  readonly passkeys: PasskeyRows;
  readonly resets: ResetRows;
}
