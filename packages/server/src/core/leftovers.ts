import type { SpaceId } from './ids.ts';
import { SESSION_KEPT } from './people/login/login.ts';
import type { Room } from './room.ts';
import type { HeadName } from './store.ts';
import { DAY, type Micros } from './time.ts';

/** Finds what has ended and is of no more use, in small steps. */
export interface LeftoverRows {
  /** Digests, forwards and pushes that ended, with their attempts; callbacks leave with their delivery. */
  removeEndedJobs(before: Micros, limit: number): Promise<number>;
  /** Waits that were opened before and are not open any more. */
  removeEndedWaits(before: Micros, limit: number): Promise<number>;
  /** Head rows in the order of their names. */
  heads(after: string, limit: number): Promise<{ name: string; at: Micros }[]>;
  /** Unless it was written to meanwhile. */
  removeHead(name: string, at: Micros): Promise<boolean>;
}

const STEP = 500;
const JOBS_KEPT = 30 * DAY;
const WAITS_KEPT = 30 * DAY;
/** By then every bucket of guesses is full again, and a full bucket is the same as none. */
const GUESSES_KEPT = 2 * DAY;
/** Where somebody logged in from. Longer than a session lasts, or it would be forgotten when it is needed. */
const PLACES_KEPT = 2 * SESSION_KEPT;

export type Leaving = { now: Micros; retentionDays: number };

/** One step: jobs and waits that have ended. True when there may be more. */
export function removeEnded(room: Room, space: SpaceId, { now, retentionDays }: Leaving): Promise<boolean> {
  const kept = retentionDays * DAY;
  return room.store.write(space, [], async (tx) => {
    const jobs = await tx.leftovers.removeEndedJobs(now - Math.min(JOBS_KEPT, kept), STEP);
    const waits = await tx.leftovers.removeEndedWaits(now - Math.min(WAITS_KEPT, kept), STEP);
    return jobs >= STEP || waits === STEP;
  });
}

/**
 * One step. Heads have no order of age: they are walked by name, a page at a time, and `mark` is where the last walk
 * ended. It may go on at once where old ones lie together.
 */
export async function removeOldHeads(
  room: Room,
  space: SpaceId,
  { now, retentionDays }: Leaving,
  mark: string,
): Promise<{ mark: string; isMore: boolean }> {
  const heads = await room.store.read(space, (tx) => tx.leftovers.heads(mark, STEP));
  const old = heads.filter(({ name, at }) => at < now - keptFor(name, retentionDays * DAY));
  if (old.length > 0) {
    await room.store.write(space, [], async (tx) => {
      for (const { name, at } of old) await tx.leftovers.removeHead(name, at);
    });
  }
  const isLast = heads.length < STEP;
  return { mark: isLast ? '' : (heads.at(-1)?.name ?? ''), isMore: !isLast && old.length > 0 };
}

/** The order of a subject without events for the whole retention time starts anew; all other heads stay. */
function keptFor(name: string, retention: Micros): Micros {
  const isOf = (kind: HeadName) => name.startsWith(kind);
  if (isOf('subject:')) return retention;
  if (isOf('login:known:')) return PLACES_KEPT;
  return isOf('login:') ? GUESSES_KEPT : Number.POSITIVE_INFINITY;
}
