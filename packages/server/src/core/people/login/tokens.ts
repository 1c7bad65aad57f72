import { accessEnded } from '../../access.ts';
import type { JsonObject } from '../../canonical.ts';
import { Fault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
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
    await tx.people.revokeToken(id, room.clock.now());
    await noteRevoked(room, tx, person, { action: 'token.revoked', data: { token: id } });
    return { revoked: id };
  });
}

/** Ends all of a person's tokens. Returns how many there were. */
export function revokeTokens(room: Room, person: Person): Promise<number> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const open = (await tx.people.listTokens(person.id)).filter((t) => t.revokedAt === null);
    if (open.length === 0) return 0;
    const now = room.clock.now();
    for (const { id } of open) await tx.people.revokeToken(id, now);
    await noteRevoked(room, tx, person, { action: 'token.all_revoked', data: { tokens: open.length } });
    return open.length;
  });
}

async function noteRevoked(
  room: Room,
  tx: Tx,
  person: Person,
  what: { action: string; data: JsonObject },
): Promise<void> {
  await record(room, tx, room.clock.now(), {
    actor: `person:${person.id}`,
    subject: person.id,
    ...what,
  });
  tx.announce(`desk:${tx.space}`, SESSIONS);
  tx.announce(`desk:${tx.space}`, 'me');
  accessEnded(tx, person.id);
}
