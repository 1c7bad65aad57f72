import type { Room } from '../../room.ts';
import { SERVER } from '../../store.ts';
import { DAY, type Micros } from '../../time.ts';
import type { SigningKey } from '../store.ts';

/** A key signs for this long, and stays published for as long again, so that what it signed can still be verified. */
const SIGNS_FOR: Micros = 90 * DAY;
const SHOWN_FOR: Micros = 90 * DAY;

/** The keys that others may still need for verifying, newest first; the first one signs. Made when there is none. */
export async function signingKeys(room: Room, make: () => Promise<SigningKey>): Promise<SigningKey[]> {
  const known = await room.store.read(SERVER, (tx) => tx.signing.list());
  const now = room.clock.now();
  return isDue(known, now) ? rotate(room, await make(), isDue) : shown(known, now);
}

/** A new key signs from now on; the one before it stays published. */
export async function rotateSigningKey(room: Room, make: () => Promise<SigningKey>): Promise<SigningKey[]> {
  return rotate(room, await make(), () => true);
}

function isDue([newest]: readonly SigningKey[], now: Micros): boolean {
  return newest === undefined || newest.createdAt + SIGNS_FOR <= now;
}

function shown(keys: readonly SigningKey[], now: Micros): SigningKey[] {
  return keys.filter((key) => key.retiredAt === null || key.retiredAt + SHOWN_FOR > now).slice(0, 2);
}

function rotate(room: Room, made: SigningKey, isWanted: typeof isDue): Promise<SigningKey[]> {
  return room.store.write(SERVER, ['signing'], async (tx) => {
    const head = await tx.heads.get('signing');
    const before = await tx.signing.list();
    const now = room.clock.now();
    // Another replica may have been faster.
    if (!isWanted(before, now)) return shown(before, now);
    const fresh = { ...made, createdAt: Math.max(now, (head?.n ?? 0) + 1) };
    tx.heads.set('signing', { n: fresh.createdAt, at: now, text: '' });
    for (const key of before) if (key.retiredAt === null) await tx.signing.retire(key.id, fresh.createdAt);
    await tx.signing.insert(fresh);
    return [fresh, ...before].slice(0, 2);
  });
}
