import { Fault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { sessionEnded } from '../login/login.ts';
import { hasChanged, mayAct, type Person } from '../person.ts';

/**
 * Runs `work` if the person is still an owner. They may have been removed, reset or demoted since they were let in,
 * and what they do here could give them a way back (W28).
 */
export function asOwner<T>(
  room: Room,
  owner: Person,
  work: (tx: Tx) => Promise<T | Fault>,
): Promise<T | Fault> {
  return room.store.write(owner.space, ['ledger'], async (tx) => (await refuse(tx, owner)) ?? work(tx));
}

async function refuse(tx: Tx, owner: Person): Promise<Fault | null> {
  if (await hasChanged(tx, owner)) return sessionEnded();
  const now = await tx.people.get(owner.id);
  if (now !== null && mayAct(now.role, 'owner')) return null;
  return new Fault('role_too_low', 'This needs the role owner, and yours has changed. Ask an owner.');
}
