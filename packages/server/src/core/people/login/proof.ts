import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import { type Micros, SECOND } from '../../time.ts';
import type { Person } from '../person.ts';
import { payGuess, settleGuess } from './guesses.ts';
import type { Doorkeeper } from './login.ts';

/** For this long after a login or another proof, the person at the keyboard is believed to be the one who logged in. */
const PROOF_KEPT: Micros = 600 * SECOND;

/**
 * Guards what would give somebody at an unlocked desk a way in of their own, which outlives the session. A script's
 * token proves nothing here, or whoever found one could keep making more.
 */
export async function refuseUnproved(room: Room, session: string | null): Promise<Fault | null> {
  if (session === null)
    return new Fault(
      'proof_needed',
      'A token cannot do this. Log in at the desk, with a password or a passkey.',
    );
  const found = await room.store.directory.sessionByDigest(room.vault.sha256(session));
  if (found !== null && found.provedAt + PROOF_KEPT > room.clock.now()) return null;
  const message = 'Show once more that it is you, with your password or a passkey, and try again.';
  return new Fault('proof_needed', message);
}

/** Guesses here count against the limits of the login. */
export async function proveByPassword(
  room: Doorkeeper,
  person: Person,
  given: { password: string; address: string; session: string },
): Promise<Fault | null> {
  const guess = await payGuess(room, { email: person.email, address: given.address });
  if (isFault(guess)) return guess;
  const right = await room.passwords.matches(person.passwordHash, given.password);
  await settleGuess(room, guess, right);
  if (!right) return new Fault('invalid_field', 'This is not your password.', { field: 'password' });
  return room.store.write(person.space, ['ledger'], async (tx) => {
    await tx.people.setProved(room.vault.sha256(given.session), room.clock.now());
    await record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'session.proved',
      subject: person.id,
      data: {},
    });
    return null;
  });
}
