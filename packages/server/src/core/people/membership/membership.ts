import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { DAY, type Micros } from '../../time.ts';
import type { Doorkeeper } from '../login/login.ts';
import { foldEmail, isEmail, type Person, type Role } from '../person.ts';
import { emailTaken, insertPerson, makePerson, type NewPerson, refusePerson } from './add-person.ts';
import { asOwner } from './as-owner.ts';
import { endLinksGivenBy } from './given-links.ts';
import { type Invitation, isOpen } from './invitation.ts';
import { endEveryWayIn } from './reset.ts';

const INVITATION_KEPT: Micros = 7 * DAY;

/** A link for one e-mail address and role. The token is only in this reply; a new link ends the one before. */
export async function invite(
  room: Room,
  owner: Person,
  wanted: { email: string; role: Role },
): Promise<{ invitation: Invitation; token: string } | Fault> {
  const email = foldEmail(wanted.email);
  if (!isEmail(email))
    return new Fault('invalid_field', 'This is not an e-mail address.', { field: 'email' });
  const token = `inv_${room.ids.letters(40)}`;
  return asOwner(room, owner, async (tx) => {
    if ((await tx.people.byEmail(email)) !== null) return emailTaken(email);
    const now = room.clock.now();
    const invitation: Invitation = {
      space: owner.space,
      id: `in_${room.ids.letters(12)}`,
      digest: room.vault.sha256(token),
      email,
      role: wanted.role,
      by: owner.id,
      createdAt: now,
      expiresAt: now + INVITATION_KEPT,
      acceptedAt: null,
    };
    await tx.invitations.removeOpenFor(email);
    await tx.invitations.insert(invitation);
    const data = { invitation: invitation.id, role: wanted.role };
    await note(room, tx, { owner, action: 'person.invited', subject: invitation.id, data });
    return { invitation, token };
  });
}

/** A person whose first password an owner has chosen. */
export async function addByOwner(
  room: Doorkeeper,
  owner: Person,
  wanted: Omit<NewPerson, 'space'>,
): Promise<Person | Fault> {
  const person = await makePerson(room, { ...wanted, space: owner.space });
  if (isFault(person)) return person;
  return asOwner(room, owner, async (tx) => {
    if ((await tx.people.byEmail(person.email)) !== null) return emailTaken(person.email);
    await insertPerson(room, tx, person, `person:${owner.id}`);
    return person;
  });
}

export function takeBackInvitation(room: Room, owner: Person, id: string): Promise<Fault | null> {
  return asOwner(room, owner, async (tx) => {
    if (!(await tx.invitations.open()).some((i) => i.id === id)) {
      return new Fault('not_found', 'There is no open invitation with this id in your space.');
    }
    await tx.invitations.remove(id);
    await note(room, tx, { owner, action: 'invitation.revoked', subject: id, data: {} });
    return null;
  });
}

export type Acceptance = { token: string; name: string | null; password: string };

/** The invited person accepts. The link is used up in the same transaction that makes the person. */
export async function acceptInvitation(room: Doorkeeper, given: Acceptance): Promise<Person | Fault> {
  const invitation = await room.store.directory.invitationByDigest(room.vault.sha256(given.token));
  if (invitation === null || !isOpen(invitation, room.clock.now())) return closed();
  const refused = refusePerson(invitation.email, given.password);
  if (refused !== null) return refused;
  const passwordHash = await room.passwords.hash(given.password);
  const { space, email, role } = invitation;
  return room.store.write(space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    const still = (await tx.invitations.open()).some((i) => i.id === invitation.id && isOpen(i, now));
    if (!still) return closed();
    if ((await tx.people.byEmail(email)) !== null) return emailTaken(email);
    await tx.invitations.accept(invitation.id, now);
    const id = `pe_${room.ids.letters(16)}`;
    const name = given.name?.trim() || email.slice(0, email.indexOf('@'));
    const person: Person = { space, id, email, name, role, passwordHash, createdAt: now };
    await insertPerson(room, tx, person, `invitation:${invitation.id}`);
    return person;
  });
}

function closed(): Fault {
  return new Fault(
    'invitation_closed',
    'This invitation was used, taken back or has expired. Ask for a new one.',
  );
}

/** Runs `work` on a person of the space; the last owner can neither leave nor step down. */
function onPerson<T>(
  room: Room,
  at: { owner: Person; id: string; staysOwner: boolean },
  work: (tx: Tx, person: Person) => Promise<T | Fault>,
): Promise<T | Fault> {
  return asOwner(room, at.owner, async (tx) => {
    const people = await tx.people.list();
    const person = people.find((p) => p.id === at.id);
    if (person === undefined) return new Fault('not_found', 'There is no person with this id in your space.');
    const owners = people.filter((p) => p.role === 'owner');
    if (person.role === 'owner' && !at.staysOwner && owners.length === 1) {
      return new Fault('last_owner', 'This is the last owner. Make somebody else an owner first.');
    }
    return work(tx, person);
  });
}

export function changeRole(room: Room, owner: Person, id: string, role: Role): Promise<Person | Fault> {
  return onPerson(room, { owner, id, staysOwner: role === 'owner' }, async (tx, person) => {
    if (person.role === role) return person;
    await tx.people.setRole(id, role);
    await endLinksGivenBy(room, tx, { giver: id, actor: `person:${owner.id}` });
    const data = { from: person.role, to: role };
    await note(room, tx, { owner, action: 'person.role_changed', subject: id, data });
    return { ...person, role };
  });
}

/** Sessions, tokens and the links they gave out end at once. The name stays under the decisions that the person has made. */
export function removePerson(room: Room, owner: Person, id: string): Promise<Person | Fault> {
  return onPerson(room, { owner, id, staysOwner: false }, async (tx, person) => {
    const now = room.clock.now();
    await endEveryWayIn(tx, id, now);
    await endLinksGivenBy(room, tx, { giver: id, actor: `person:${owner.id}` });
    await tx.preferences.remove(id);
    await tx.drafts.removeBy(id);
    await tx.people.remove(id, now);
    await note(room, tx, { owner, action: 'person.removed', subject: id, data: { role: person.role } });
    return person;
  });
}

async function note(
  room: Room,
  tx: Tx,
  n: { owner: Person; action: string; subject: string; data: Record<string, unknown> },
): Promise<void> {
  await record(room, tx, room.clock.now(), {
    actor: `person:${n.owner.id}`,
    action: n.action,
    subject: n.subject,
    data: n.data,
  });
  tx.announce(`desk:${tx.space}`, 'people');
}
