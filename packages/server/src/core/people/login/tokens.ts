import { accessEnded } from '../../access.ts';
import { Fault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import { hasChanged, type Person, type TokenRecord } from '../person.ts';
import { SESSIONS, sessionEnded } from './login.ts';

/** A person's token for scripts. Shown once. */
export async function addToken(
  room: Room,
  person: Person,
  name: string,
): Promise<{ token: string; record: TokenRecord } | Fault> {
  const token = `lr_${room.ids.letters(40)}`;
  const now = room.clock.now();
  const stored: TokenRecord = {
    space: person.space,
    id: `tok_${room.ids.letters(12)}`,
    person: person.id,
    name,
    digest: room.vault.sha256(token),
    lastFour: token.slice(-4),
    createdAt: now,
    revokedAt: null,
  };
  return room.store.write(person.space, ['ledger'], async (tx) => {
    if (await hasChanged(tx, person)) return sessionEnded();
    await tx.people.insertToken(stored);
    const data = { token: stored.id, name };
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'token.added',
      subject: person.id,
      data,
    });
    tx.announce(`desk:${tx.space}`, 'me');
    return { token, record: stored };
  });
}

export function revokeToken(room: Room, person: Person, id: string): Promise<{ revoked: string } | Fault> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const mine = (await tx.people.listTokens(person.id)).some((t) => t.id === id && t.revokedAt === null);
    if (!mine) return new Fault('not_found', 'You have no active token with this id.');
    const now = room.clock.now();
    await tx.people.revokeToken(id, now);
    const data = { token: id };
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'token.revoked',
      subject: person.id,
      data,
    });
    tx.announce(`desk:${tx.space}`, SESSIONS);
    tx.announce(`desk:${tx.space}`, 'me');
    accessEnded(tx, person.id);
    return { revoked: id };
  });
}
