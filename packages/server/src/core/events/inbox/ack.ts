import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { type Ack, type AckStatus, type Entry, judgeAck } from '../event.ts';
import type { Reader } from './cursor.ts';
import { entriesOf } from './inbox.ts';

export type Acknowledging = {
  eventId: string;
  producer: string | null;
  status: AckStatus;
  processedAt: Micros | null;
  reason: string | null;
};

/** The agent says what became of an event. Its newest entry decides; older entries of the same event follow (K13). */
export function acknowledge(room: Room, reader: Reader, a: Acknowledging): Promise<Entry | Fault> {
  return room.store.write(reader.space, ['ledger'], async (tx) => {
    const found = await entriesOf(tx, reader, a.eventId, a.producer);
    if (isFault(found)) return found;
    const entry = found.at(-1)?.entry;
    if (entry === undefined) return new Fault('not_found', 'There is no event with this id in your inbox.');
    const judged = judgeAck(entry.ack, a.status);
    if (judged.kind === 'same') return entry;
    if (judged.kind === 'refused') return refused(entry, a.status);
    const now = room.clock.now();
    const ack = { status: a.status, processedAt: a.processedAt ?? now, reason: a.reason };
    await settle(tx, reader, found, ack);
    tx.announce(`desk:${tx.space}`, 'events');
    await record(room, tx, now, {
      actor: `agent:${reader.agent}`,
      action: 'event.acknowledged',
      subject: a.eventId,
      data: { status: a.status },
    });
    return { ...entry, ack };
  });
}

async function settle(tx: Tx, { agent }: Reader, found: readonly { entry: Entry }[], ack: Ack) {
  for (const { entry } of found) {
    if (judgeAck(entry.ack, ack.status).kind === 'set') await tx.entries.setAck(agent, entry.offset, ack);
  }
}

function refused(entry: Entry, status: AckStatus): Fault {
  const message = `This event was acknowledged as ${entry.ack?.status}; that cannot become ${status}.`;
  return new Fault('ack_conflict', message);
}
