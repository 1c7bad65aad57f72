import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { DAY, type Micros } from '../../time.ts';
import type { Passkeys } from '../passkeys/passkey.ts';
import { foldEmail, hasChanged, type Person, type SessionRecord } from '../person.ts';
import { payGuess, settleGuess } from './guesses.ts';

/** argon2id, behind an interface because a library does it. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** `null` for an unknown person takes as long as a wrong password. */
  matches(hash: string | null, password: string): Promise<boolean>;
}

export type Doorkeeper = Room & { readonly passwords: Passwords; readonly passkeys: Passkeys };

export const SESSION_KEPT: Micros = 30 * DAY;
/** Announced when a session or token has ended, so that every open stream checks its own. */
export const SESSIONS = 'sessions';

export type LoginAttempt = {
  email: string;
  password: string;
  handle: string | null;
  address: string;
  device: string | null;
};
export type OpenedSession = { person: Person; token: string; expiresAt: Micros };

/** An unknown person and a wrong password get the same words after the same amount of work. */
export async function login(room: Doorkeeper, attempt: LoginAttempt): Promise<OpenedSession | Fault> {
  const guess = await payGuess(room, attempt);
  if (isFault(guess)) return guess;
  const namesakes = await findPeople(room, foldEmail(attempt.email), attempt.handle);
  const person = await whoKnows(room, namesakes, attempt.password);
  if (person !== null) {
    const [opened] = await Promise.all([
      openSession(room, person, attempt.device),
      settleGuess(room, guess, true),
    ]);
    return opened;
  }
  await Promise.all([settleGuess(room, guess, false), ...namesakes.map((one) => noteFailed(room, one))]);
  return loginFailed();
}

function loginFailed(): Fault {
  return new Fault('login_failed', 'E-mail or password is wrong.');
}

/** More than anybody has; without a bound one guess could be any amount of work. */
const MOST_NAMESAKES = 8;

/** Whom an e-mail names: one person in each of several spaces, unless the handle says in which. Oldest first. */
async function findPeople(room: Room, email: string, handle: string | null): Promise<Person[]> {
  const people = await room.store.directory.peopleByEmail(email);
  if (handle === null) return people.sort((a, b) => a.createdAt - b.createdAt).slice(0, MOST_NAMESAKES);
  const space = await room.store.directory.spaceByHandle(handle);
  return people.filter((p) => p.space === space?.id);
}

/**
 * The one whose password it is. All are asked, at the same time: an owner elsewhere may give anybody's address to
 * somebody of their own, and must not stand before them here.
 */
async function whoKnows(
  room: Doorkeeper,
  people: readonly Person[],
  password: string,
): Promise<Person | null> {
  const hashes = people.length === 0 ? [null] : people.map((person) => person.passwordHash);
  const right = await Promise.all(hashes.map((hash) => room.passwords.matches(hash, password)));
  return people.find((_, i) => right[i] === true) ?? null;
}

function noteFailed(room: Room, person: Person): Promise<number> {
  return room.store.write(person.space, ['ledger'], (tx) =>
    record(room, tx, room.clock.now(), {
      actor: 'unknown',
      action: 'login.failed',
      subject: person.id,
      data: {},
    }),
  );
}

export function sessionEnded(): Fault {
  return new Fault('session_expired', 'Your session has ended. Log in again.');
}

/** A fresh token every time; only its digest is kept. */
export function openSession(
  room: Room,
  person: Person,
  device: string | null,
): Promise<OpenedSession | Fault> {
  return room.store.write(person.space, ['ledger'], (tx) => openSessionIn(room, tx, person, { device }));
}

export async function openSessionIn(
  room: Room,
  tx: Tx,
  person: Person,
  { device, data = {} }: { device: string | null; data?: Record<string, string> },
): Promise<OpenedSession | Fault> {
  if (await hasChanged(tx, person)) return loginFailed();
  const token = room.ids.letters(43);
  const now = room.clock.now();
  const expiresAt = now + SESSION_KEPT;
  const session: SessionRecord = {
    space: person.space,
    digest: room.vault.sha256(token),
    person: person.id,
    createdAt: now,
    expiresAt,
    provedAt: now,
    device,
  };
  await tx.people.insertSession(session);
  await record(room, tx, now, {
    actor: `person:${person.id}`,
    action: 'session.opened',
    subject: person.id,
    data,
  });
  return { person, token, expiresAt };
}

export async function closeSession(room: Room, person: Person, token: string): Promise<void> {
  await room.store.write(person.space, ['ledger'], async (tx) => {
    if ((await tx.people.deleteSession(room.vault.sha256(token))) === 0) return;
    const now = room.clock.now();
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'session.closed',
      subject: person.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, SESSIONS);
  });
}

/** The person behind a session cookie or a script's token, or null. */
export async function personBehind(room: Room, secret: string): Promise<Person | null> {
  const digest = room.vault.sha256(secret);
  if (secret.startsWith('lr_')) {
    const token = await room.store.directory.tokenByDigest(digest);
    if (token === null || token.revokedAt !== null) return null;
    return room.store.read(token.space, (tx) => tx.people.get(token.person));
  }
  const session = await room.store.directory.sessionByDigest(digest);
  if (session === null || session.expiresAt <= room.clock.now()) return null;
  return room.store.read(session.space, (tx) => tx.people.get(session.person));
}
