import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { EventRecord } from '../event.ts';
import type { Taker } from './takers.ts';

/** One job for each subscription that wants the event sent, in the transaction that keeps it (K19). */
export async function queueForwards(
  room: Room,
  tx: Tx,
  { agent, forwards }: Taker,
  { event, body }: { event: EventRecord; body: () => string },
): Promise<void> {
  for (const { subscription, url } of forwards) {
    const job = {
      space: tx.space,
      id: room.ids.timed(event.receivedAt),
      kind: 'forward' as const,
      agent,
      delivery: event.eventId,
      origin: new URL(url).origin,
      state: 'due' as const,
      dueAt: event.receivedAt,
      attempts: 0,
      fence: 0,
      leasedUntil: null,
      createdAt: event.receivedAt,
    };
    await tx.jobs.insert(job, { url, body: body(), subscription });
    tx.announce('jobs');
  }
}
