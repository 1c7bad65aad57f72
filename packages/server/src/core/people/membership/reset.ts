import { accessEnded } from '../../access.ts';
import { Fault } from '../../faults.ts';
import type { PersonId, SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { DAY, type Micros } from '../../time.ts';
import { type Doorkeeper, SESSIONS } from '../login/login.ts';
import { foldEmail, type Person } from '../person.ts';
import { refusePerson } from './add-person.ts';
import { asOwner } from './as-owner.ts';
import { endLinksGivenBy } from './given-links.ts';

const RESET_KEPT: Micros = DAY;

/** A link by which a person chooses a new password. Only its digest is kept. */
export type Reset = {
  space: SpaceId;
  person: PersonId;
  digest: string;
  /** Who gave it out. Null if an older version did, which did not record it. */
  by: PersonId | null;
  expiresAt: Micros;
};

/**
 * Somebody lost their way in, or somebody else may have found it: password, passkeys, sessions, tokens and the links
 * given out in their name end at once, and this link is the only way back.
 */
export function resetPerson(
  room: Room,
  owner: Person,
  id: PersonId,
): Promise<{ token: string; expiresAt: Micros } | Fault> {
  const token = `rs_${room.ids.letters(40)}`;
  return asOwner(room, owner, async (tx) => {
    if (id === owner.id)
      return new Fault('invalid_field', 'Change your own password under Settings, Security.', {
        field: 'id',
      });
    const person = (await tx.people.list()).find((p) => p.id === id);
    if (person === undefined) return new Fault('not_found', 'There is no person with this id in your space.');
    await endEverything(room, tx, { id, actor: `person:${owner.id}`, passwordHash: null });
    const expiresAt = room.clock.now() + RESET_KEPT;
    const digest = room.vault.sha256(token);
    await tx.resets.put({ space: owner.space, person: id, digest, by: owner.id, expiresAt });
    return { token, expiresAt };
  });
}

/** The same for whoever has no owner to ask, on the server's own machine: a new password instead of a link. */
export async function resetByOperator(
  room: Doorkeeper,
  at: { space: SpaceId; email: string; password: string },
  actor: string,
): Promise<Person | Fault> {
  const passwordHash = await room.passwords.hash(at.password);
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const person = await tx.people.byEmail(foldEmail(at.email));
    if (person === null) return nobodyWithEmail();
    await endEverything(room, tx, { id: person.id, actor, passwordHash });
    return { ...person, passwordHash };
  });
}

export function nobodyWithEmail(): Fault {
  return new Fault('not_found', 'There is no person with this e-mail in your space.');
}

async function endEverything(
  room: Room,
  tx: Tx,
  { id, actor, passwordHash }: { id: PersonId; actor: string; passwordHash: string | null },
): Promise<void> {
  await endEveryWayIn(tx, id, room.clock.now());
  await endLinksGivenBy(room, tx, { giver: id, actor });
  await tx.people.setPassword(id, passwordHash);
  await note(room, tx, { actor, action: 'person.reset', subject: id });
}

/** Ends everything but the password, which each caller handles in its own way. */
export async function endEveryWayIn(tx: Tx, person: PersonId, now: Micros): Promise<void> {
  await tx.people.deleteSessionsOf(person);
  for (const token of await tx.people.listTokens(person)) {
    if (token.revokedAt === null) await tx.people.revokeToken(token.id, now);
  }
  await tx.passkeys.removeOf(person);
  await tx.resets.remove(person);
  tx.announce(`desk:${tx.space}`, SESSIONS);
  accessEnded(tx, person);
}

export async function completeReset(
  room: Doorkeeper,
  given: { token: string; password: string },
): Promise<Person | Fault> {
  const reset = await room.store.directory.resetByDigest(room.vault.sha256(given.token));
  if (reset === null || reset.expiresAt <= room.clock.now()) return closed();
  const person = await room.store.read(reset.space, (tx) => tx.people.get(reset.person));
  if (person === null) return closed();
  const refused = refusePerson(person.email, given.password);
  if (refused !== null) return refused;
  const passwordHash = await room.passwords.hash(given.password);
  return room.store.write(reset.space, ['ledger'], async (tx) => {
    if ((await tx.resets.of(person.id))?.digest !== reset.digest) return closed();
    await tx.resets.remove(person.id);
    await tx.people.setPassword(person.id, passwordHash);
    await note(room, tx, { actor: `person:${person.id}`, action: 'password.reset', subject: person.id });
    return { ...person, passwordHash };
  });
}

function closed(): Fault {
  return new Fault('invitation_closed', 'This link was used, replaced or has expired. Ask for a new one.');
}

async function note(
  room: Room,
  tx: Tx,
  entry: { actor: string; action: string; subject: string },
): Promise<void> {
  await record(room, tx, room.clock.now(), { ...entry, data: {} });
  tx.announce(`desk:${tx.space}`, 'people');
}
