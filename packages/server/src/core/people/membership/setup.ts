import { Fault } from '../../faults.ts';
import type { SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import { type Head, SERVER } from '../../store.ts';
import { DAY, type Micros } from '../../time.ts';
import type { Doorkeeper } from '../login/login.ts';
import { foldEmail, type Person } from '../person.ts';
import { addPerson, emailTaken, refusePerson } from './add-person.ts';

const SETUP_KEPT: Micros = DAY;

/** The one-time setup link: its token, how long it still works, and whether an earlier start has shown it. */
export type SetupLink = { readonly token: string; readonly left: Micros; readonly isShownBefore: boolean };

/**
 * The link that is open, or a new one for a day. The store holds its end and a digest; the token follows from the end,
 * for us only. So every start and every replica shows the same link, and none takes away what another has shown.
 */
export async function openSetup(room: Room): Promise<SetupLink> {
  return room.store.write(SERVER, ['setup'], async (tx) => {
    const now = room.clock.now();
    const open = await tx.heads.get('setup');
    if (open !== null) {
      const token = tokenUntil(room, open.at);
      if (isGood(room, open, token)) return { token, left: open.at - now, isShownBefore: true };
    }
    const token = tokenUntil(room, now + SETUP_KEPT);
    tx.heads.set('setup', { n: 1, at: now + SETUP_KEPT, text: room.vault.sha256(token) });
    return { token, left: SETUP_KEPT, isShownBefore: false };
  });
}

function tokenUntil({ vault }: Room, end: Micros): string {
  return `st_${vault.mac(`setup\n${end}`).replace(/\W/g, '')}`;
}

function isGood({ vault, clock }: Room, head: Head | null, token: string): boolean {
  return head !== null && head.n === 1 && head.text === vault.sha256(token) && head.at > clock.now();
}

export type Setup = { token: string; email: string; name: string | null; password: string };

/** The first owner. The token is used up in the same transaction, so that it works exactly once. */
export async function completeSetup(room: Doorkeeper, setup: Setup): Promise<Person | Fault> {
  const refused = refusePerson(foldEmail(setup.email), setup.password);
  if (refused !== null) return refused;
  const [space] = await room.store.directory.spaces();
  if (space === undefined) return setupClosed();
  // The token is checked first: without a good one nobody learns who is here.
  if (!isGood(room, await room.store.read(SERVER, (tx) => tx.heads.get('setup')), setup.token))
    return setupClosed();
  // Checked before the token is used up: a name that is taken is a mistake, and a mistake must not cost the token.
  const email = foldEmail(setup.email);
  if ((await room.store.read(space.id, (tx) => tx.people.byEmail(email))) !== null) return emailTaken(email);
  const taken = await room.store.write(SERVER, ['setup'], async (tx) => {
    if (!isGood(room, await tx.heads.get('setup'), setup.token)) return setupClosed();
    tx.heads.set('setup', { n: 0, at: room.clock.now(), text: '' });
    return true;
  });
  if (taken !== true) return taken;
  return addPerson(room, { space: space.id, role: 'owner', ...setup }, 'setup');
}

/** Somebody became the owner another way, so the setup link ends. */
export async function closeSetup(room: Room): Promise<void> {
  await room.store.write(SERVER, ['setup'], async (tx) => {
    if ((await tx.heads.get('setup')) !== null)
      tx.heads.set('setup', { n: 0, at: room.clock.now(), text: '' });
  });
}

export async function hasOwner(room: Room, space: SpaceId): Promise<boolean> {
  const people = await room.store.read(space, (tx) => tx.people.list());
  return people.some((person) => person.role === 'owner');
}

function setupClosed(): Fault {
  return new Fault(
    'setup_closed',
    'This setup link was used or has expired. If there is an owner already, log in; otherwise start the server again for a new link.',
  );
}
