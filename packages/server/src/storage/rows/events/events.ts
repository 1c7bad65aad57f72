import type { EventRecord } from '../../../core/events/event.ts';
import type { EventRows } from '../../../core/events/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Bodies, Located } from './bodies.ts';

const EVENT = [
  'space_id',
  'seq',
  'producer_id',
  'event_id',
  'event_type',
  'received_at',
  'body_sha256',
  'task_id',
  'causation_id',
  'fill_producer',
  'out_of_order',
] as const;

export type EventRow = Pick<Tables['events'], (typeof EVENT)[number]>;

const insert = insertOf('events', [...EVENT, 'body', 'segment', 'body_at', 'body_size']);
const ELSEWHERE = new Uint8Array();

const located = statement<{ space: string; seq: number }>()((db, p) =>
  db
    .selectFrom('events')
    .select(['segment', 'body_at', 'body_size'])
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq),
);

const byProducer = statement<{ space: string; producer: string; id: string }>()((db, p) =>
  db
    .selectFrom('events')
    .select(EVENT)
    .where('space_id', '=', p.space)
    .where('producer_id', '=', p.producer)
    .where('event_id', '=', p.id),
);

const byCause = statement<{ space: string; cause: string; limit: number }>()((db, p) =>
  db
    .selectFrom('events')
    .select(EVENT)
    .where('space_id', '=', p.space)
    .where('causation_id', '=', p.cause)
    .orderBy('seq')
    .limit(p.limit),
);

const removeUnheld = statement<{ space: string; seq: number }>()((db, p) =>
  db
    .deleteFrom('events')
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('entries')
            .select('entries.place')
            .where('entries.space_id', '=', p.space)
            .where('entries.event_seq', '=', p.seq),
        ),
      ),
    ),
);

export function eventRows(session: Session, space: string, bodies: Bodies): EventRows {
  return {
    insert: async (event, body) => {
      const at = bodies.add(space, event.seq, body);
      await session.run(insert, Object.assign(fromEvent(event), at, { body: ELSEWHERE }));
    },
    get: async (producer, id) => {
      const row = await session.one(byProducer, { space, producer, id });
      return row === undefined ? null : toEvent(row);
    },
    byCause: async (cause, limit) => (await session.all(byCause, { space, cause, limit })).map(toEvent),
    removeUnheld: async (seqs) => {
      const gone: Located[] = [];
      for (const seq of seqs) {
        const at = await session.one(located, { space, seq });
        if ((await session.run(removeUnheld, { space, seq })) === 1 && isLocated(at)) gone.push(at);
      }
      await bodies.blank(space, gone);
    },
  };
}

type MayBeLocated = { [Name in keyof Located]: number | null };

/** Rows from before bodies were sealed together hold their own. */
export function isLocated(row: MayBeLocated | undefined): row is Located {
  return row !== undefined && row.segment !== null;
}

export function toEvent(row: EventRow): EventRecord {
  return {
    space: row.space_id,
    seq: row.seq,
    producer: row.producer_id,
    eventId: row.event_id,
    eventType: row.event_type,
    receivedAt: row.received_at,
    bodyHash: row.body_sha256,
    taskId: row.task_id,
    causationId: row.causation_id,
    fillProducer: row.fill_producer === 1,
    outOfOrder: row.out_of_order === 1,
  };
}

function fromEvent(event: EventRecord): EventRow {
  return {
    space_id: event.space,
    seq: event.seq,
    producer_id: event.producer,
    event_id: event.eventId,
    event_type: event.eventType,
    received_at: event.receivedAt,
    body_sha256: event.bodyHash,
    task_id: event.taskId,
    causation_id: event.causationId,
    fill_producer: event.fillProducer ? 1 : 0,
    out_of_order: event.outOfOrder ? 1 : 0,
  };
}
