import { type SelectQueryBuilder, sql } from 'kysely';
import { TELLING_TYPES } from '../../../core/events/event.ts';
import type { EntryRows, Page, Sending } from '../../../core/events/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Bodies, Located, Segment } from './bodies.ts';
import {
  fromEntry,
  type Joined,
  type ReadRow,
  sentFrom,
  toEntry,
  toOfTask,
  toSending,
} from './entry-columns.ts';
import { isLocated, toEvent } from './events.ts';
import { readRuns } from './runs.ts';

type OfAgent = { space: string; agent: string };
type Builder = Parameters<Parameters<ReturnType<typeof statement>>[0]>[0];

const OFTEN = [
  'space_id',
  'agent_id',
  'place',
  'event_seq',
  'producer_id',
  'event_id',
  'event_type',
  'task_id',
  'received_at',
  'kept_until',
  'has_uri',
] as const;

/** Most entries arrive unacknowledged, and binding a null costs as much as binding a value. */
const insert = insertOf('entries', OFTEN);
const insertAcked = insertOf('entries', [...OFTEN, 'ack', 'processed_at', 'reason']);

/** An entry with its event; where both tables have a column, the entry's is taken. */
const ofBoth = (joined: SelectQueryBuilder<Tables, 'entries' | 'events', object>) =>
  joined
    .selectAll('entries')
    .select([
      'events.seq',
      'events.body',
      'events.segment',
      'events.body_at',
      'events.body_size',
      'events.body_sha256',
      'events.causation_id',
      'events.fill_producer',
      'events.out_of_order',
    ]);

const joined = (db: Builder) =>
  ofBoth(
    db
      .selectFrom('entries')
      .innerJoin('events', (join) =>
        join.onRef('events.space_id', '=', 'entries.space_id').onRef('events.seq', '=', 'entries.event_seq'),
      ),
  );

/** Only what a reader is sent: the other columns would cost more than the bodies. */
const read = statement<OfAgent & { after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('entries')
    .innerJoin('events', (join) =>
      join.onRef('events.space_id', '=', 'entries.space_id').onRef('events.seq', '=', 'entries.event_seq'),
    )
    .select(['entries.place', 'entries.ack', 'events.segment', 'events.body_at', 'events.body_size'])
    .select((eb) =>
      eb.case().when('events.fill_producer', '=', 1).then(eb.ref('events.producer_id')).end().as('fill'),
    )
    .where('entries.space_id', '=', p.space)
    .where('entries.agent_id', '=', p.agent)
    .where('entries.place', '>', p.after)
    .orderBy('entries.place')
    .limit(p.limit),
);

/** A cross join tells SQLite which table comes first: left to itself, it would walk the whole inbox. */
const byEventId = statement<OfAgent & { id: string; limit: number }>()((db, p) =>
  ofBoth(db.selectFrom('events').crossJoin('entries'))
    .where('events.space_id', '=', p.space)
    .where('events.event_id', '=', p.id)
    .where('entries.space_id', '=', p.space)
    .whereRef('entries.event_seq', '=', 'events.seq')
    .where('entries.agent_id', '=', p.agent)
    .limit(p.limit),
);

/**
 * As one text: the driver takes four times as long to return two hundred rows as the database takes to find them. Ids
 * and types contain no spaces, by their patterns.
 */
const byTask = statement<OfAgent & { task: string; limit: number }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('entries')
        .select(['place', 'event_id', 'event_type', 'received_at', 'has_uri'])
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent)
        .where('task_id', '=', p.task)
        .orderBy('place', 'desc')
        .limit(p.limit)
        .as('page'),
    )
    .select(
      sql<
        string | null
      >`string_agg(place || ' ' || received_at || ' ' || has_uri || ' ' || event_type || ' ' || event_id, ' ')`.as(
        'events',
      ),
    ),
);

const lastTelling = statement<OfAgent & { task: string }>()((db, p) =>
  db
    .selectFrom('entries')
    .select('event_type')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('task_id', '=', p.task)
    .where('event_type', 'in', TELLING_TYPES)
    .orderBy('place', 'desc')
    .limit(1),
);

const newest = statement<OfAgent & { before: number; limit: number }>()((db, p) =>
  joined(db)
    .where('entries.space_id', '=', p.space)
    .where('entries.agent_id', '=', p.agent)
    .where('entries.place', '<', p.before)
    .orderBy('entries.place', 'desc')
    .limit(p.limit),
);

/** Over all inboxes of a space, newest event first; the inboxes of one event by name. */
const recent = statement<{ space: string; seq: number; agent: string; place: number; limit: number }>()(
  (db, p) =>
    joined(db)
      .where('entries.space_id', '=', p.space)
      .where('entries.event_seq', '<=', p.seq)
      .where((eb) =>
        eb.or([
          eb('entries.event_seq', '<', p.seq),
          eb('entries.agent_id', '>', p.agent),
          eb.and([eb('entries.agent_id', '=', p.agent), eb('entries.place', '>', p.place)]),
        ]),
      )
      .orderBy('entries.event_seq', 'desc')
      .orderBy('entries.agent_id')
      .orderBy('entries.place')
      .limit(p.limit),
);

const oldest = statement<OfAgent>()((db, p) =>
  db
    .selectFrom('entries')
    .select('place')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .orderBy('place')
    .limit(1),
);

const unacked = statement<OfAgent & { limit: number }>()((db, p) =>
  db
    .selectFrom('entries')
    .select('place')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('ack', 'is', null)
    .orderBy('place')
    .limit(p.limit),
);

const setAck = statement<OfAgent & { place: number; ack: string; at: number; reason: string | null }>()(
  (db, p) =>
    db
      .updateTable('entries')
      .set({ ack: p.ack, processed_at: p.at, reason: p.reason })
      .where('space_id', '=', p.space)
      .where('agent_id', '=', p.agent)
      .where('place', '=', p.place),
);

const front = statement<OfAgent & { limit: number }>()((db, p) =>
  db
    .selectFrom('entries')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .orderBy('place')
    .limit(p.limit),
);

const removeUpTo = statement<OfAgent & { place: number }>()((db, p) =>
  db
    .deleteFrom('entries')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('place', '<=', p.place),
);

const at = statement<OfAgent & { place: number }>()((db, p) =>
  joined(db)
    .where('entries.space_id', '=', p.space)
    .where('entries.agent_id', '=', p.agent)
    .where('entries.place', '=', p.place),
);

export function entryRows(session: Session, space: string, bodies: Bodies): EntryRows {
  const toPage = async (rows: readonly Joined[]): Promise<Page> => {
    const page: Page = [];
    for (const row of rows) {
      const body = isLocated(row) ? await inSegment(row) : bodies.own(space, row.seq, row.body);
      const size = row.body_size ?? row.body.length;
      page.push({ entry: toEntry(row), event: { ...toEvent(row), size, body } });
    }
    return page;
  };
  const inSegment = async ({ segment, body_at, body_size }: Located): Promise<() => Uint8Array> => {
    const found = await bodies.find(space, segment);
    return () => found.at(body_at, body_size);
  };
  const withOwnBody = async (agent: string, row: ReadRow): Promise<Sending> => {
    const own = await session.one(at, { space, agent, place: row.place });
    if (own === undefined) throw new Error(`entry ${row.place} of ${agent} has lost its event`);
    const body = bodies.own(space, own.seq, own.body);
    return toSending(row, own.body.length, body);
  };
  return {
    insert: async (entry) => {
      const row = fromEntry(entry);
      await (row.ack === null ? session.run(insert, row) : session.run(insertAcked, row));
    },
    read: async (agent, after, limit) => {
      const sendings: Sending[] = [];
      let found: Segment | null = null;
      let segment: number | null = null;
      for (const row of await session.all(read, { space, agent, after, limit })) {
        if (row.segment !== segment)
          found = row.segment === null ? null : await bodies.find(space, row.segment);
        segment = row.segment;
        sendings.push(found === null ? await withOwnBody(agent, row) : sentFrom(found, row));
      }
      return sendings;
    },
    runs: (agent, after, limit) => readRuns(session, { space, bodies }, { agent, after, limit }),
    byEventId: async (agent, id, limit) => toPage(await session.all(byEventId, { space, agent, id, limit })),
    lastTelling: async (agent, task) =>
      (await session.one(lastTelling, { space, agent, task }))?.event_type ?? null,
    byTask: async (agent, task, limit) =>
      toOfTask((await session.one(byTask, { space, agent, task, limit }))?.events ?? null),
    at: async (agent, place) => {
      const row = await session.one(at, { space, agent, place });
      return row === undefined ? null : ((await toPage([row]))[0] ?? null);
    },
    newest: async (agent, before, limit) =>
      toPage(await session.all(newest, { space, agent, before, limit })),
    recent: async (after, limit) => toPage(await session.all(recent, { space, ...after, limit })),
    oldest: async (agent) => (await session.one(oldest, { space, agent }))?.place ?? null,
    unacked: async (agent, limit) =>
      (await session.all(unacked, { space, agent, limit })).map((row) => row.place),
    setAck: async (agent, place, { status: ack, processedAt: at, reason }) =>
      void (await session.run(setAck, { space, agent, place, ack, at, reason })),
    front: async (agent, limit) => (await session.all(front, { space, agent, limit })).map(toEntry),
    removeUpTo: (agent, place) => session.run(removeUpTo, { space, agent, place }),
  };
}
