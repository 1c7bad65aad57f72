import { Fault, isFault } from '../../faults.ts';
import type { SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Doorkeeper } from '../login/login.ts';
import { foldEmail, isEmail, type Person, type Role } from '../person.ts';

const PASSWORD_LEAST = 8;
const PASSWORD_MOST = 1024; // longer ones only cost hashing time

export type NewPerson = { space: SpaceId; email: string; name: string | null; role: Role; password: string };

export async function addPerson(room: Doorkeeper, wanted: NewPerson, actor: string): Promise<Person | Fault> {
  const person = await makePerson(room, wanted);
  if (isFault(person)) return person;
  return room.store.write(wanted.space, ['ledger'], async (tx) => {
    if ((await tx.people.byEmail(person.email)) !== null) return emailTaken(person.email);
    await insertPerson(room, tx, person, actor);
    return person;
  });
}

/** Made before the transaction: hashing a password takes longer than a transaction should. */
export async function makePerson(room: Doorkeeper, wanted: NewPerson): Promise<Person | Fault> {
  const email = foldEmail(wanted.email);
  const refused = refusePerson(email, wanted.password);
  if (refused !== null) return refused;
  return {
    space: wanted.space,
    id: `pe_${room.ids.letters(16)}`,
    email,
    name: wanted.name?.trim() || email.slice(0, email.indexOf('@')),
    role: wanted.role,
    passwordHash: await room.passwords.hash(wanted.password),
    createdAt: room.clock.now(),
  };
}

export function emailTaken(email: string): Fault {
  return new Fault('name_taken', `${email} is already a person of this space.`, { field: 'email' });
}

export function refusePerson(email: string, password: string): Fault | null {
  if (!isEmail(email))
    return new Fault('invalid_field', 'This is not an e-mail address.', { field: 'email' });
  if (password.length >= PASSWORD_LEAST && password.length <= PASSWORD_MOST) return null;
  const message = `A password has ${PASSWORD_LEAST} to ${PASSWORD_MOST} characters.`;
  return new Fault('invalid_field', message, { field: 'password' });
}

export async function insertPerson(room: Room, tx: Tx, person: Person, actor: string): Promise<void> {
  await tx.people.insert(person);
  const data = { role: person.role };
  await record(room, tx, person.createdAt, { actor, action: 'person.added', subject: person.id, data });
  tx.announce(`desk:${tx.space}`, 'people');
}
