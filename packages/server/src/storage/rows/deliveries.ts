import type { QueryCreator } from 'kysely';
import type { Tier } from '../../core/agents/key.ts';
import type {
  Delivery,
  DeliveryState,
  DeliveryType,
  Section,
  Status,
} from '../../core/deliveries/delivery.ts';
import type { ChangedRow, DeliveryRows } from '../../core/store.ts';
import { insertOf, type Session, type Statement, statement } from '../statement.ts';
import type { DeliveryTable, Tables } from '../tables.ts';
import type { KeptPlaceIds } from './place-ids.ts';

/** All but the sealed parts: those are read only where they are needed. */
export const COLUMNS = [
  'space_id',
  'seq',
  'delivery_id',
  'agent_id',
  'tier',
  'provider',
  'type',
  'headline',
  'summary',
  'content_sha256',
  'created_at',
  'changed_at',
  'status',
  'state',
  'section',
  'section_at',
  'timeout_at',
  'task_id',
  'thread_id',
  'interrupt_id',
  'revises',
  'revision',
  'superseded_by',
  'dedupe_key',
  'read_at',
  'read_by',
  'snoozed_until',
  'effect_at',
  'withdrawn_at',
  'cause_event',
  'parts',
  'irreversible',
] as const;

export type DeliveryRow = Pick<DeliveryTable, (typeof COLUMNS)[number]>;
type ById = { space: string; id: string };
/** An id tells where its row should lie; only the row can tell that it is the one. */
type AtPlace = ById & { seq: number };

/** Null in nearly every new delivery. */
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

/** What is null is left out: every value that is handed over costs as much as writing it. */
const insertPlain = insertOf('deliveries', [...OFTEN, 'body']);
const insert = insertOf('deliveries', [...COLUMNS, 'body']);

const byId = statement<AtPlace>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where('delivery_id', '=', p.id),
);

const tierById = statement<AtPlace>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select('tier')
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where('delivery_id', '=', p.id),
);

const bodyById = statement<AtPlace>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select('body')
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where('delivery_id', '=', p.id),
);

const CHANGED = ['delivery_id', 'status', 'changed_at', 'timeout_at', 'response'] as const;

const polled = statement<AtPlace>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select([...CHANGED, 'agent_id'])
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq)
    .where('delivery_id', '=', p.id),
);

/** Ids that do not tell their place: those of stores from before ids did. */
const placeOfOther = statement<ById>()((db, p) =>
  db.selectFrom('other_ids').select('seq').where('space_id', '=', p.space).where('delivery_id', '=', p.id),
);

const insertOther = insertOf('other_ids', ['space_id', 'delivery_id', 'seq']);

const byDedupeKey = statement<{ space: string; agent: string; key: string }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('dedupe_key', '=', p.key)
    .where('state', 'in', ['pending', 'held'])
    .limit(1),
);

/** What may change in the life of a delivery; everything else is as it was delivered. */
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

const changed = statement<Swept & { limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(CHANGED)
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('status', '=', p.status)
    .where('changed_at', '>', p.since)
    .orderBy('changed_at')
    .limit(p.limit),
);

const countChanged = statement<Swept>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('status', '=', p.status)
    .where('changed_at', '>', p.since),
);

type Listed = { space: string; section: string; sectionAt: number; seq: number; limit: number };

const listed = statement<Listed>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('section', '=', p.section)
    .where((eb) => eb(eb.refTuple('section_at', 'seq'), '>', eb.tuple(p.sectionAt, p.seq)))
    .orderBy('section_at')
    .orderBy('seq')
    .limit(p.limit),
);

const listedByAgent = statement<Listed & { agent: string }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('section', '=', p.section)
    .where((eb) => eb(eb.refTuple('section_at', 'seq'), '>', eb.tuple(p.sectionAt, p.seq)))
    .orderBy('section_at')
    .orderBy('seq')
    .limit(p.limit),
);

type Aged = { space: string; before: number; limit: number };

/** The oldest of Earlier. Read anew by each of the statements below, which leave it as it is until the last. */
const aged = (db: QueryCreator<Tables>, p: Aged) =>
  db
    .selectFrom('deliveries')
    .where('space_id', '=', p.space)
    .where('section', '=', 'earlier')
    .where('section_at', '>', p.before)
    .orderBy('section_at', 'desc')
    .limit(p.limit);

const deleteAnswered = statement<Aged>()((db, p) =>
  db.deleteFrom('deliveries').where('space_id', '=', p.space).where('seq', 'in', aged(db, p).select('seq')),
);

const deleteAgedWords = statement<Aged>()((db, p) =>
  db.deleteFrom('words').where('space_id', '=', p.space).where('seq', 'in', aged(db, p).select('seq')),
);

/** Before the jobs, by which they are found. */
const deleteAgedAttempts = statement<Aged>()((db, p) =>
  db
    .deleteFrom('attempts')
    .where('space_id', '=', p.space)
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('space_id', '=', p.space)
        .where('delivery_id', 'in', aged(db, p).select('delivery_id')),
    ),
);

/** Everything that was said about a delivery leaves with it; the ledger keeps that it was there. */
const deleteAgedRest = (['drafts', 'decisions', 'jobs', 'other_ids'] as const).map((table) =>
  statement<Aged>()((db, p) =>
    db
      .deleteFrom(table)
      .where('space_id', '=', p.space)
      .where('delivery_id', 'in', aged(db, p).select('delivery_id')),
  ),
);

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
  /** What is at the place that the id tells, or where it is noted for an id that tells none. */
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
    pendingByDedupeKey: async (agent, key) => fromRow(await session.one(byDedupeKey, { space, agent, key })),
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
    openOfNewAgent: async (agent, limit) => {
      const query = { space, agent, section: 'new_agents', ...FIRST, limit };
      return (await session.all(listedByAgent, query)).map(toDelivery);
    },
    deleteAnsweredBefore: async (before, limit) => {
      const old = { space, before: -before, limit };
      await session.run(deleteAgedWords, old);
      await session.run(deleteAgedAttempts, old);
      for (const statement of deleteAgedRest) await session.run(statement, old);
      return session.run(deleteAnswered, old);
    },
  };
}

function fromRow(row: DeliveryRow | undefined): Delivery | null {
  return row === undefined ? null : toDelivery(row);
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    space: row.space_id,
    seq: row.seq,
    id: row.delivery_id,
    agent: row.agent_id,
    tier: row.tier as Tier,
    provider: row.provider,
    type: row.type as DeliveryType,
    headline: row.headline,
    summary: row.summary,
    contentHash: row.content_sha256,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    status: row.status as Status,
    state: row.state as DeliveryState,
    section: row.section as Section,
    sectionAt: row.section_at,
    timeoutAt: row.timeout_at,
    taskId: row.task_id,
    threadId: row.thread_id,
    interruptId: row.interrupt_id,
    revises: row.revises,
    revision: row.revision,
    supersededBy: row.superseded_by,
    dedupeKey: row.dedupe_key,
    readAt: row.read_at,
    readBy: row.read_by,
    snoozedUntil: row.snoozed_until,
    effectAt: row.effect_at,
    withdrawnAt: row.withdrawn_at,
    causeEvent: row.cause_event,
    parts: row.parts,
    irreversible: row.irreversible === 1,
  };
}

function toRow(d: Delivery): DeliveryRow {
  return {
    space_id: d.space,
    seq: d.seq,
    delivery_id: d.id,
    agent_id: d.agent,
    tier: d.tier,
    provider: d.provider,
    type: d.type,
    headline: d.headline,
    summary: d.summary,
    content_sha256: d.contentHash,
    created_at: d.createdAt,
    changed_at: d.changedAt,
    status: d.status,
    state: d.state,
    section: d.section,
    section_at: d.sectionAt,
    timeout_at: d.timeoutAt,
    task_id: d.taskId,
    thread_id: d.threadId,
    interrupt_id: d.interruptId,
    revises: d.revises,
    revision: d.revision,
    superseded_by: d.supersededBy,
    dedupe_key: d.dedupeKey,
    read_at: d.readAt,
    read_by: d.readBy,
    snoozed_until: d.snoozedUntil,
    effect_at: d.effectAt,
    withdrawn_at: d.withdrawnAt,
    cause_event: d.causeEvent,
    parts: d.parts,
    irreversible: d.irreversible ? 1 : 0,
  };
}
