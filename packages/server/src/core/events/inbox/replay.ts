import { Fault, isFault } from '../../faults.ts';
import type { AgentId } from '../../ids.ts';
import type { Person } from '../../people/person.ts';
import { type Room, record } from '../../room.ts';
import { enter } from '../place.ts';
import { UNACKED_KEPT } from '../subscriptions/subscription.ts';
import { entriesOf } from './inbox.ts';

export type Again = { agent: AgentId; eventId: string; producer: string | null };

/**
 * By hand: the event is entered once more at the end of this inbox. It was judged when it arrived, so nothing is
 * resumed (K36).
 */
export function replay(room: Room, person: Person, again: Again): Promise<{ offset: number } | Fault> {
  const { agent, eventId, producer } = again;
  const reader = { space: person.space, agent };
  return room.store.write(person.space, ['ledger', `inbox:${agent}`], async (tx) => {
    const found = await entriesOf(tx, reader, eventId, producer);
    if (isFault(found)) return found;
    const newest = found.at(-1);
    if (newest === undefined) return new Fault('not_found', 'There is no event with this id in this inbox.');
    const now = room.clock.now();
    const taker = { agent, keptFor: UNACKED_KEPT, ackRequired: true };
    const { event, entry } = newest;
    const offset = await enter(tx, { event, hasUri: entry.hasUri }, taker, now);
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'event.replayed',
      subject: eventId,
      data: { inbox: agent, producer: event.producer },
    });
    tx.announce(`desk:${tx.space}`, 'events');
    return { offset };
  });
}
