import type { PersonId, SpaceId } from './ids.ts';
import { planDigest } from './people/preferences/digest.ts';
import type { Room } from './room.ts';
import { LEASE } from './sending/lease-jobs.ts';
import { RETRY_STEPS_MS } from './sending/retry.ts';
import { LINK_KEPT } from './tasks/presence.ts';
import { DAY, type Micros, SECOND } from './time.ts';

/** Deadlines further ahead than anybody can have set them by the clock as it is now. */
export interface DeadlineRows {
  /** Held decisions that were made after `after` end at `now`. */
  bringHeld(after: Micros, now: Micros): Promise<number>;
  /** Leases that end after `after` have ended. */
  endLeases(after: Micros): Promise<number>;
  /** Makes everything due that was never tried, and every retry that was planned for after `after`. */
  bringAttempts(now: Micros, after: Micros): Promise<number>;
  /** People whose next digest is due after `after`. */
  digestsAfter(after: Micros): Promise<PersonId[]>;
  /** Leases of connections that would last beyond `until` end then. */
  shortenLinks(until: Micros): Promise<number>;
}

/** A window that lasts a minute longer harms nobody; one that is cut short breaks the promise of an undo. */
const NO_MATTER: Micros = 60 * SECOND;

/** By so much that something waits which should not. Clocks are corrected by less than that all the time. */
export function isSetBack(latest: Micros, now: Micros): boolean {
  return now < latest - NO_MATTER;
}

/** No retry and no digest is ever planned further ahead: a sitting returns after a week at the latest. */
const LONGEST_RETRY: Micros = 1.2 * Math.max(...RETRY_STEPS_MS) * 1000 + NO_MATTER;
const LONGEST_REST: Micros = 8 * DAY;

/**
 * A clock that was set back leaves deadlines in a future that is hours or years away. Whatever should have happened
 * within seconds happens now. Retries and digests keep their time if it could have been set by today's clock, because
 * a long pause cannot be told from a moved one.
 */
export function catchUpAfterSetBack(room: Room, space: SpaceId): Promise<void> {
  return room.store.write(space, [], async (tx) => {
    const now = room.clock.now();
    // Judged by when they were made: the length of their window was promised then, whatever the setting is now.
    if ((await tx.deadlines.bringHeld(now + NO_MATTER, now)) > 0) tx.announce('held');
    const ended = await tx.deadlines.endLeases(now + LEASE);
    const brought = await tx.deadlines.bringAttempts(now, now + LONGEST_RETRY);
    if (ended + brought > 0) tx.announce('jobs');
    await tx.deadlines.shortenLinks(now + LINK_KEPT);
    for (const person of await tx.deadlines.digestsAfter(now + LONGEST_REST))
      await planDigest(room, tx, person, now);
  });
}
