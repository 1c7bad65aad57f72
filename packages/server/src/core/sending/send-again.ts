import { Fault } from '../faults.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { Job } from './job.ts';

/**
 * By hand: the callback is due again at once, whatever became of it before (W22). An attempt that is under way ends on
 * the record, and does not decide what becomes of this one.
 */
export function sendAgain(room: Room, person: Person, id: string): Promise<Job | Fault> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const job = await tx.jobs.get(id);
    if (job === null || job.kind === 'digest')
      return new Fault('not_found', 'There is no callback with this id in your space.');
    const now = room.clock.now();
    await tx.jobs.requeue(id, now);
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'callback.requeued',
      subject: job.delivery,
      data: { job: id },
    });
    tx.announce('jobs');
    tx.announce(`desk:${tx.space}`, job.delivery);
    return (await tx.jobs.get(id)) ?? job;
  });
}
