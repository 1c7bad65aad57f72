import { orThrow } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Request } from '../store.ts';
import { type Micros, SECOND } from '../time.ts';
import type { Job } from './job.ts';

/**
 * A lease ends soon after its worker has died, so that whoever is left takes over within half a minute (L8). A live
 * worker renews it well before that: an attempt may take as long.
 */
export const LEASE: Micros = 30 * SECOND;
export const RENEW_EVERY: Micros = LEASE / 3;

/** A job of ours, and what it wants to be sent; null when that cannot be opened any more. */
export type Leased = { job: Job; request: Request | null };

/** Jobs of a space that a worker wants. Plain values, fit for another thread. */
export type WantedJobs = { space: SpaceId; page: readonly Pick<Job, 'id' | 'fence'>[] };
/** What each of them has become: null when somebody else has it. */
export type TakenJobs = ((Pick<Job, 'fence' | 'leasedUntil'> & Pick<Leased, 'request'>) | null)[];

/** Takes these jobs of a space for this worker. Returns those that nobody else has. */
export async function claim(room: Room, space: SpaceId, jobs: readonly Job[]): Promise<Leased[]> {
  const wanted = { space, page: jobs.map(({ id, fence }) => ({ id, fence })) };
  const taken = orThrow(await (room.intake?.take('claim', wanted) ?? takeJobs(room, wanted)));
  return jobs.flatMap((job, i) => {
    const { request, ...lease } = taken[i] ?? {};
    return request === undefined ? [] : [{ job: { ...job, ...lease }, request }];
  });
}

export function takeJobs(room: Room, { space, page }: WantedJobs): Promise<TakenJobs> {
  return room.store.write(space, [], async (tx) => {
    const now = room.clock.now();
    const leasedUntil = now + LEASE;
    const leased = await tx.jobs.lease(page, now, leasedUntil);
    const requests = await tx.jobs.requests(page.map(({ id }) => id));
    return page.map(({ id, fence }, i) =>
      leased.has(id) ? { fence: fence + 1, leasedUntil, request: requests[i] ?? null } : null,
    );
  });
}

/** The attempt goes on. Nothing happens when the lease was lost meanwhile; its result will not be taken then. */
export function renew(room: Room, job: Job): Promise<boolean> {
  return room.store.write(job.space, [], (tx) => tx.jobs.renew(job.id, job.fence, room.clock.now() + LEASE));
}

/** Gives a job back untried: the worker is stopping. */
export function giveBack(room: Room, job: Job): Promise<boolean> {
  return room.store.write(job.space, [], (tx) => tx.jobs.release(job.id, job.fence));
}
