import { type Fault, isFault } from '../faults.ts';
import type { Doorkeeper } from '../people/login/login.ts';
import { insertPerson, makePerson, refusePerson } from '../people/membership/add-person.ts';
import { foldEmail, type Person } from '../people/person.ts';
import type { Room } from '../room.ts';
import {
  insertAgent,
  insertSpace,
  type MadeAgent,
  makeSpaceId,
  type NewAgent,
  refuseAgent,
  refuseHandle,
} from './found.ts';

/** What the first start makes. */
export type NewHome = {
  handle: string;
  agent: Omit<NewAgent, 'space'>;
  owner: { email: string; password: string } | null;
};

/** Asks nothing of a store, so that a start can be refused before it makes one. */
export function refuseHome({ handle, agent, owner }: NewHome): Fault | null {
  return (
    refuseHandle(handle) ??
    refuseAgent(agent) ??
    (owner && refusePerson(foldEmail(owner.email), owner.password))
  );
}

/**
 * The first space, its agent and its owner, all or nothing: a store with half of them would count as set up, and the
 * next start would not make the rest (D29).
 */
export async function foundHome(room: Doorkeeper, home: NewHome, actor: string): Promise<MadeAgent | Fault> {
  const refused = refuseHome(home);
  if (refused !== null) return refused;
  const { handle, agent, owner } = home;
  const space = makeSpaceId(room);
  const person = owner && (await makePerson(room, { ...owner, space, name: null, role: 'owner' }));
  if (isFault(person)) return person;
  return room.store.write(space, ['ledger', 'subscriptions'], async (tx) => {
    await insertSpace(room, tx, handle, actor);
    const made = await insertAgent(room, tx, agent, actor);
    if (person !== null) await insertPerson(room, tx, person, actor);
    return made;
  });
}

/** Whether a person belongs to the first space: what concerns the whole server is for its owners. */
export async function isAtHome(
  { store }: Pick<Room, 'store'>,
  { space }: Pick<Person, 'space'>,
): Promise<boolean> {
  const [home] = await store.directory.spaces();
  return home?.id === space;
}
