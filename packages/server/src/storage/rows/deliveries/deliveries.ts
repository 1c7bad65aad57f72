import type { QueryCreator } from 'kysely';
import type { Tier } from '../../../core/agents/key.ts';
import type { Delivery, Status } from '../../../core/deliveries/delivery.ts';
import type { ChangedRow, DeliveryRows, ThreadQuery } from '../../../core/deliveries/store.ts';
import { insertOf, type Session, type Statement, statement } from '../../statement.ts';
import type { DeliveryTable, Tables } from '../../tables.ts';
import { removeAged } from './deliveries-remove.ts';
import { COLUMNS, type DeliveryRow, toDelivery, toRow } from './delivery-columns.ts';
import type { KeptPlaceIds } from './place-ids.ts';

type ById = { space: string; id: string };
/** An id tells where its row should be; only the row itself can confirm it. */
type AtPlace = ById & { seq: number };

/** Columns that are null in nearly every new delivery. */
const SELDOM = [
  'thread_id',
  'interrupt_id',
  'revises',
  'superseded_by',
  'dedupe_key',
  'read_at',
  'read_by',
  'snoozed_until',
  'effect_at',
  'withdrawn_at',
  'cause_event',
] as const satisfies readonly (typeof COLUMNS)[number][];

type Seldom = (typeof SELDOM)[number];
const OFTEN = COLUMNS.filter((name): name is Exclude<typeof name, Seldom> => !SELDOM.some((s) => s === name));

/** Without the columns that are null: binding a null costs as much as binding a value. */
const insertPlain = insertOf('deliveries', [...OFTEN, 'body']);
const insert = insertOf('deliveries', [...COLUMNS, 'body']);

const atPlace = (db: QueryCreator<Tables>, p: AtPlace) =>
  db
    .selectFrom('deliveries')
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where('delivery_id', '=', p.id);

const CHANGED = ['delivery_id', 'status', 'changed_at', 'timeout_at', 'response'] as const;

const byId = statement<AtPlace>()((db, p) => atPlace(db, p).select(COLUMNS));
const tierById = statement<AtPlace>()((db, p) => atPlace(db, p).select('tier'));
const bodyById = statement<AtPlace>()((db, p) => atPlace(db, p).select('body'));
const polled = statement<AtPlace>()((db, p) => atPlace(db, p).select([...CHANGED, 'agent_id']));

/** For ids that do not contain their place: those from before ids did. */
const placeOfOther = statement<ById>()((db, p) =>
  db.selectFrom('other_ids').select('seq').where('space_id', '=', p.space).where('delivery_id', '=', p.id),
);

const insertOther = insertOf('other_ids', ['space_id', 'delivery_id', 'seq']);

/** A few at the most. Asked for in order, a database might walk all deliveries by their places instead of the key. */
const byDedupeKey = statement<{ space: string; agent: string; key: string }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('dedupe_key', '=', p.key)
    .where('state', 'in', ['pending', 'held']),
);

/** The columns that may change; the others stay as they were delivered. */
const CHANGING = [
  'changed_at',
  'status',
  'state',
  'section',
  'section_at',
  'superseded_by',
  'read_at',
  'read_by',
  'snoozed_until',
  'effect_at',
  'withdrawn_at',
] as const;

type Changing = Pick<DeliveryTable, (typeof CHANGING)[number]>;

const update = statement<Changing & { space: string; seq: number }>()((db, p) =>
  db
    .updateTable('deliveries')
    .set(Object.fromEntries(CHANGING.map((name) => [name, p[name]])) as Changing)
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq),
);

const setResponse = statement<{ space: string; seq: number; response: Uint8Array }>()((db, p) =>
  db
    .updateTable('deliveries')
    .set({ response: p.response })
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq),
);

type Swept = { space: string; agent: string; status: string; since: number };

const swept = (db: QueryCreator<Tables>, p: Swept) =>
  db
    .selectFrom('deliveries')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('status', '=', p.status)
    .where('changed_at', '>', p.since);

const changed = statement<Swept & { limit: number }>()((db, p) =>
  swept(db, p).select(CHANGED).orderBy('changed_at').limit(p.limit),
);

const countChanged = statement<Swept>()((db, p) =>
  swept(db, p).select((eb) => eb.fn.countAll<number>().as('n')),
);

type Listed = { space: string; section: string; sectionAt: number; seq: number; limit: number };

const inSection = (db: QueryCreator<Tables>, p: Listed) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('section', '=', p.section)
    .where((eb) => eb(eb.refTuple('section_at', 'seq'), '>', eb.tuple(p.sectionAt, p.seq)))
    .orderBy('section_at')
    .orderBy('seq')
    .limit(p.limit);

const listed = statement<Listed>()(inSection);

const listedByAgent = statement<Listed & { agent: string }>()((db, p) =>
  inSection(db, p).where('agent_id', '=', p.agent),
);

type Threaded = Omit<ThreadQuery, 'side'> & { space: string };

const ofThread = (db: QueryCreator<Tables>, p: Threaded) =>
  db
    .selectFrom('deliveries')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('thread_id', '=', p.thread)
    .limit(p.limit);

const beforeInThread = (db: QueryCreator<Tables>, p: Threaded) =>
  ofThread(db, p).where('seq', '<', p.seq).orderBy('seq', 'desc');
const afterInThread = (db: QueryCreator<Tables>, p: Threaded) =>
  ofThread(db, p).where('seq', '>', p.seq).orderBy('seq');

const THREAD = {
  before: {
    rows: statement<Threaded>()((db, p) => beforeInThread(db, p).select(COLUMNS)),
    count: statement<Threaded>()((db, p) =>
      db
        .selectFrom(beforeInThread(db, p).select('seq').as('some'))
        .select((eb) => eb.fn.countAll<number>().as('n')),
    ),
  },
  after: {
    rows: statement<Threaded>()((db, p) => afterInThread(db, p).select(COLUMNS)),
    count: statement<Threaded>()((db, p) =>
      db
        .selectFrom(afterInThread(db, p).select('seq').as('some'))
        .select((eb) => eb.fn.countAll<number>().as('n')),
    ),
  },
};

function toChanged(row: Pick<DeliveryTable, (typeof CHANGED)[number]>): ChangedRow {
  return {
    id: row.delivery_id,
    status: row.status as Status,
    changedAt: row.changed_at,
    timeoutAt: row.timeout_at,
    response: row.response,
  };
}

const FIRST = { sectionAt: -Number.MAX_SAFE_INTEGER, seq: 0 };

export function deliveryRows(session: Session, space: string, kept: Pick<KeptPlaceIds, 'get'>): DeliveryRows {
  /** Looks at the place in the id, or at the recorded place for an id without one. */
  const find = async <R>(query: Statement<AtPlace, R>, id: string): Promise<R | undefined> => {
    const seq = (await kept.get(session)).placeOf(id);
    const found = await session.one(query, { space, id, seq });
    if (found !== undefined) return found;
    const noted = await session.one(placeOfOther, { space, id });
    return noted && session.one(query, { space, id, seq: noted.seq });
  };
  return {
    idAt: async (seq) => (await kept.get(session)).idAt(seq),
    insert: async (d, body) => {
      const row = Object.assign(toRow(d), { space_id: space, body });
      const isPlain = SELDOM.every((name) => row[name] === null);
      await (isPlain ? session.run(insertPlain, row) : session.run(insert, row));
      if ((await kept.get(session)).placeOf(d.id) !== d.seq)
        await session.run(insertOther, { space_id: space, delivery_id: d.id, seq: d.seq });
    },
    get: async (id) => fromRow(await find(byId, id)),
    tier: async (id) => ((await find(tierById, id))?.tier as Tier | undefined) ?? null,
    body: async (id) => (await find(bodyById, id))?.body ?? null,
    polled: async (id) => {
      const row = await find(polled, id);
      return row === undefined ? null : { ...toChanged(row), agent: row.agent_id };
    },
    pendingByDedupeKey: async (agent, key) => {
      const open = await session.all(byDedupeKey, { space, agent, key });
      return fromRow(open.sort((a, b) => b.seq - a.seq)[0]);
    },
    update: async (d) => void (await session.run(update, { space, ...toRow(d) })),
    answer: async (d, response) => {
      await session.run(update, { space, ...toRow(d) });
      await session.run(setResponse, { space, seq: d.seq, response });
    },
    changed: async (agent, status, since, limit) => {
      const rows = await session.all(changed, { space, agent, status, since, limit });
      return rows.map(toChanged);
    },
    countChanged: async (agent, status, since) =>
      (await session.one(countChanged, { space, agent, status, since }))?.n ?? 0,
    list: async ({ section, agent, after = FIRST, limit }) => {
      const { sectionAt, seq } = after;
      const query = { space, section, sectionAt, seq, limit };
      const rows =
        agent === undefined
          ? await session.all(listed, query)
          : await session.all(listedByAgent, { ...query, agent });
      return rows.map(toDelivery);
    },
    ofThread: async ({ side, ...query }) =>
      (await session.all(THREAD[side].rows, { space, ...query })).map(toDelivery),
    countOfThread: async ({ side, ...query }) =>
      (await session.one(THREAD[side].count, { space, ...query }))?.n ?? 0,
    deleteAnsweredBefore: (before, limit) => removeAged(session, space, before, limit),
  };
}

function fromRow(row: DeliveryRow | undefined): Delivery | null {
  return row === undefined ? null : toDelivery(row);
}
