import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import { refusePerson } from '../membership/add-person.ts';
import { hasChanged, type Person, type SessionRecord } from '../person.ts';
import { payGuess, settleGuess } from './guesses.ts';
import { type Doorkeeper, sessionEnded } from './login.ts';

/** Guesses at the old password count against the limits of the login. */
export async function changePassword(
  room: Doorkeeper,
  person: Person,
  change: { current: string; password: string; address: string; session: string | null },
): Promise<Fault | null> {
  const guess = await payGuess(room, { email: person.email, address: change.address });
  if (isFault(guess)) return guess;
  const right = await room.passwords.matches(person.passwordHash, change.current);
  await settleGuess(room, guess, right);
  if (!right) {
    return new Fault('invalid_field', 'This is not your current password.', { field: 'current' });
  }
  const refused = refusePerson(person.email, change.password);
  if (refused !== null) return refused;
  const passwordHash = await room.passwords.hash(change.password);
  const kept = change.session === null ? null : room.vault.sha256(change.session);
  return room.store.write(person.space, ['ledger'], async (tx) => {
    if (await hasChanged(tx, person)) return sessionEnded();
    await tx.people.setPassword(person.id, passwordHash);
    for (const { digest } of await tx.people.listSessions(person.id)) {
      if (digest !== kept) await tx.people.deleteSession(digest);
    }
    await record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'password.changed',
      subject: person.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'me');
    return null;
  });
}

/** Names a session without revealing the digest that it is found by. */
export function sessionId(session: Pick<SessionRecord, 'digest'>): string {
  return session.digest.slice(-12);
}

export async function sessionsOf(room: Room, person: Person): Promise<SessionRecord[]> {
  const sessions = await room.store.read(person.space, (tx) => tx.people.listSessions(person.id));
  return sessions.filter((s) => s.expiresAt > room.clock.now());
}

/** Ends all of a person's sessions except this one. Returns how many there were. */
export function endOtherSessions(room: Room, person: Person, session: string | null): Promise<number> {
  const kept = session === null ? null : room.vault.sha256(session);
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const others = (await tx.people.listSessions(person.id)).filter((s) => s.digest !== kept);
    if (others.length === 0) return 0;
    for (const { digest } of others) await tx.people.deleteSession(digest);
    await record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'session.others_closed',
      subject: person.id,
      data: { sessions: others.length },
    });
    tx.announce(`desk:${tx.space}`, 'me');
    return others.length;
  });
}

/** Ends one of the person's own sessions; somebody else's is answered like one that does not exist. */
export function endSession(room: Room, person: Person, id: string): Promise<SessionRecord | Fault> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const session = (await tx.people.listSessions(person.id)).find((s) => sessionId(s) === id);
    if (session === undefined) return new Fault('not_found', 'You have no session with this id.');
    await tx.people.deleteSession(session.digest);
    await record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'session.closed',
      subject: person.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'me');
    return session;
  });
}
