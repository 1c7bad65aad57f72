import { orThrow } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Request } from '../store.ts';
import { type Micros, SECOND } from '../time.ts';
import type { Job } from './job.ts';

/**
 * Short, so that others take over within half a minute when a worker dies (L8). A live worker renews it well before
 * the end, because one attempt may take that long.
 */
export const LEASE: Micros = 30 * SECOND;
export const RENEW_EVERY: Micros = LEASE / 3;

/** A job that this worker holds, with the request to send; null when that cannot be opened any more. */
export type Leased = { job: Job; request: Request | null };

/** Jobs of a space that a worker wants. Plain values, fit for another thread. */
export type WantedJobs = { space: SpaceId; page: readonly Pick<Job, 'id' | 'fence'>[] };
/** The outcome for each job: null when another worker has it. */
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

/**
 * Extends the lease while an attempt is under way. False when the lease was lost meanwhile; the result will be
 * refused then.
 */
export function renew(room: Room, job: Job): Promise<boolean> {
  return room.store.write(job.space, [], (tx) => tx.jobs.renew(job.id, job.fence, room.clock.now() + LEASE));
}

/** Releases a job untried, because the worker is stopping. */
export function giveBack(room: Room, job: Job): Promise<boolean> {
  return room.store.write(job.space, [], (tx) => tx.jobs.release(job.id, job.fence));
}
