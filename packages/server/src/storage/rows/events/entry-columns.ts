import type { AckStatus, Entry } from '../../../core/events/event.ts';
import type { OfTask, Sending } from '../../../core/events/store.ts';
import type { Tables } from '../../tables.ts';
import type { Segment } from './bodies.ts';

export type Joined = Tables['entries'] &
  Pick<
    Tables['events'],
    | 'seq'
    | 'body'
    | 'segment'
    | 'body_at'
    | 'body_size'
    | 'body_sha256'
    | 'causation_id'
    | 'fill_producer'
    | 'out_of_order'
  >;

export type ReadRow = Pick<Tables['entries'], 'place' | 'ack'> &
  Pick<Tables['events'], 'segment' | 'body_at' | 'body_size'> & { fill: string | null };

export function sentFrom(found: Segment, row: ReadRow): Sending {
  const size = row.body_size ?? 0;
  return toSending(row, size, () => found.at(row.body_at ?? 0, size));
}

/** Sorted here, because a database concatenates in any order. */
export function toOfTask(text: string | null): OfTask[] {
  const words = text === null ? [] : text.split(' ');
  const events: OfTask[] = [];
  for (let i = 0; i < words.length; i += 5) {
    const [place, receivedAt, hasUri, eventType = '', eventId = ''] = words.slice(i, i + 5);
    events.push({
      offset: Number(place),
      eventId,
      eventType,
      receivedAt: Number(receivedAt),
      hasUri: hasUri === '1',
    });
  }
  return events.sort((a, b) => a.offset - b.offset);
}

export function toSending(row: ReadRow, size: number, body: () => Uint8Array): Sending {
  const fillProducer = row.fill !== null;
  return {
    offset: row.place,
    acknowledged: row.ack !== null,
    producer: row.fill ?? '',
    fillProducer,
    size,
    body,
  };
}

export function toEntry(row: Tables['entries']): Entry {
  return {
    space: row.space_id,
    agent: row.agent_id,
    offset: row.place,
    eventSeq: row.event_seq,
    producer: row.producer_id,
    eventId: row.event_id,
    eventType: row.event_type,
    taskId: row.task_id,
    receivedAt: row.received_at,
    keptUntil: row.kept_until,
    hasUri: row.has_uri === 1,
    ack: toAck(row),
  };
}

function toAck(row: Tables['entries']): Entry['ack'] {
  if (row.ack === null) return null;
  const processedAt = row.processed_at ?? row.received_at;
  return { status: row.ack as AckStatus, processedAt, reason: row.reason };
}

export function fromEntry(entry: Entry): Tables['entries'] {
  return {
    space_id: entry.space,
    agent_id: entry.agent,
    place: entry.offset,
    event_seq: entry.eventSeq,
    producer_id: entry.producer,
    event_id: entry.eventId,
    event_type: entry.eventType,
    task_id: entry.taskId,
    received_at: entry.receivedAt,
    kept_until: entry.keptUntil,
    has_uri: entry.hasUri ? 1 : 0,
    ack: entry.ack?.status ?? null,
    processed_at: entry.ack?.processedAt ?? null,
    reason: entry.ack?.reason ?? null,
  };
}
