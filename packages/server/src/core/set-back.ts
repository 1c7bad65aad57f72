import type { PersonId, SpaceId } from './ids.ts';
import { planDigest } from './people/digest.ts';
import type { Room } from './room.ts';
import { LEASE } from './sending/lease-jobs.ts';
import { RETRY_STEPS_MS } from './sending/retry.ts';
import { LINK_KEPT } from './tasks/presence.ts';
import { DAY, type Micros, SECOND } from './time.ts';

/** Deadlines that lie farther ahead than anybody can have set them by the clock as it is now. */
export interface DeadlineRows {
  /** Held decisions that were made after `after` end at `now`. */
  bringHeld(after: Micros, now: Micros): Promise<number>;
  /** Leases that end after `after` have ended. */
  endLeases(after: Micros): Promise<number>;
  /** What was never tried yet is due, and so is what was to be tried again after `after`. */
  bringAttempts(now: Micros, after: Micros): Promise<number>;
  /** Whose digest is due after `after`. */
  digestsAfter(after: Micros): Promise<PersonId[]>;
  /** Connections that are kept for longer than until `until` are kept until then. */
  shortenLinks(until: Micros): Promise<number>;
}

/** A window that lasts a minute longer harms nobody; one that is cut short takes back the promise of an undo. */
const NO_MATTER: Micros = 60 * SECOND;

/** No retry is planned farther ahead, and no digest: the same weekday comes again after a week. */
const LONGEST_RETRY: Micros = 1.2 * Math.max(...RETRY_STEPS_MS) * 1000 + NO_MATTER;
const LONGEST_REST: Micros = 8 * DAY;

/**
 * A clock that was set back leaves deadlines behind in a future that is hours or years away. Whatever was to happen
 * within seconds happens now; retries and digests keep their moment when it could be one of today's clock, because
 * nobody can tell a long pause from a moved one.
 */
export function catchUpAfterSetBack(room: Room, space: SpaceId): Promise<void> {
  return room.store.write(space, [], async (tx) => {
    const now = room.clock.now();
    // By when they were made: how long their window is was promised then, whatever the setting says now.
    if ((await tx.deadlines.bringHeld(now + NO_MATTER, now)) > 0) tx.announce('held');
    const ended = await tx.deadlines.endLeases(now + LEASE);
    const brought = await tx.deadlines.bringAttempts(now, now + LONGEST_RETRY);
    if (ended + brought > 0) tx.announce('jobs');
    await tx.deadlines.shortenLinks(now + LINK_KEPT);
    for (const person of await tx.deadlines.digestsAfter(now + LONGEST_REST))
      await planDigest(room, tx, person, now);
  });
}
