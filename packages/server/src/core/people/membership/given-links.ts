import type { PersonId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { isOpen } from './invitation.ts';

/**
 * Ends the invitations and resets that a person has given out. Somebody who has lost their rights, or whose account
 * was used by another, could come back through a link that they kept.
 */
export async function endLinksGivenBy(
  room: Room,
  tx: Tx,
  { giver, actor }: { giver: PersonId; actor: string },
): Promise<void> {
  const now = room.clock.now();
  const given = (await tx.invitations.open()).filter((i) => i.by === giver && isOpen(i, now));
  for (const { id } of given) {
    await tx.invitations.remove(id);
    await record(room, tx, now, { actor, action: 'invitation.revoked', subject: id, data: {} });
  }
  await tx.resets.removeGivenBy(giver);
}
