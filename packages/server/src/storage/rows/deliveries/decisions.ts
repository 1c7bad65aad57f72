import type { QueryCreator } from 'kysely';
import type { Decision, DecisionState } from '../../../core/deliveries/decision/decision.ts';
import type { Verdict } from '../../../core/deliveries/delivery.ts';
import type { DecisionRows } from '../../../core/deliveries/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type Table = Tables['decisions'];

const COLUMNS = [
  'space_id',
  'seq',
  'delivery_id',
  'agent_id',
  'verdict',
  'person_id',
  'delivered_at',
  'decided_at',
  'effect_at',
  'state',
  'content_sha256',
] as const;

type Row = Pick<Table, (typeof COLUMNS)[number]>;

const insert = insertOf('decisions', [...COLUMNS, 'answer']);

const current = statement<{ space: string; delivery: string }>()((db, p) =>
  db
    .selectFrom('decisions')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('delivery_id', '=', p.delivery)
    .where('state', '!=', 'undone')
    .orderBy('seq', 'desc')
    .limit(1),
);

const byDelivery = statement<{ space: string; delivery: string }>()((db, p) =>
  db
    .selectFrom('decisions')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('delivery_id', '=', p.delivery)
    .orderBy('seq'),
);

const answerOf = statement<{ space: string; seq: number }>()((db, p) =>
  db.selectFrom('decisions').select('answer').where('space_id', '=', p.space).where('seq', '=', p.seq),
);

const setState = statement<{ space: string; seq: number; state: string }>()((db, p) =>
  db
    .updateTable('decisions')
    .set({ state: p.state })
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq),
);

type History = {
  space: string;
  verdict: string;
  leftOut: string;
  from: number;
  before: number;
  limit: number;
};

/** An empty `verdict` matches any; an empty `leftOut` excludes nothing. */
const newest = (db: QueryCreator<Tables>, p: History) =>
  db
    .selectFrom('decisions')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('seq', '>=', p.from)
    .where('seq', '<', p.before)
    .where((eb) => eb.or([eb(eb.val(p.verdict), '=', ''), eb('verdict', '=', p.verdict)]))
    .where('state', '!=', p.leftOut)
    .orderBy('seq', 'desc')
    .limit(p.limit);

/** Two statements, so that each can use its index. */
const history = statement<History>()(newest);
const historyByAgent = statement<History & { agent: string }>()((db, p) =>
  newest(db, p).where('agent_id', '=', p.agent),
);

export function decisionRows(session: Session, space: string): DecisionRows {
  return {
    insert: async (d, answer) => void (await session.run(insert, { ...toRow(d), space_id: space, answer })),
    current: async (delivery) => {
      const row = await session.one(current, { space, delivery });
      return row === undefined ? null : toDecision(row);
    },
    of: async (delivery) => (await session.all(byDelivery, { space, delivery })).map(toDecision),
    answer: async (seq) => (await session.one(answerOf, { space, seq }))?.answer ?? null,
    setState: async (seq, state) => void (await session.run(setState, { space, seq, state })),
    history: async ({ agent, standing = false, from = 0, before = Number.MAX_SAFE_INTEGER, ...rest }) => {
      const { verdict = '', limit } = rest;
      const query = { space, verdict, leftOut: standing ? 'undone' : '', from, before, limit };
      const rows =
        agent === undefined
          ? await session.all(history, query)
          : await session.all(historyByAgent, { ...query, agent });
      return rows.map(toDecision);
    },
  };
}

function toDecision(row: Row): Decision {
  return {
    space: row.space_id,
    seq: row.seq,
    delivery: row.delivery_id,
    agent: row.agent_id,
    verdict: row.verdict as Verdict,
    person: row.person_id,
    deliveredAt: row.delivered_at,
    decidedAt: row.decided_at,
    effectAt: row.effect_at,
    state: row.state as DecisionState,
    contentHash: row.content_sha256,
  };
}

function toRow(d: Decision): Row {
  return {
    space_id: d.space,
    seq: d.seq,
    delivery_id: d.delivery,
    agent_id: d.agent,
    verdict: d.verdict,
    person_id: d.person,
    delivered_at: d.deliveredAt,
    decided_at: d.decidedAt,
    effect_at: d.effectAt,
    state: d.state,
    content_sha256: d.contentHash,
  };
}
