import { type QueryCreator, sql } from 'kysely';
import type { DeliveryType, Verdict } from '../../../core/deliveries/delivery.ts';
import type { CountRows } from '../../../core/deliveries/store.ts';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type Counted = { space: string; most: number };
type Range = Counted & { from: number; before: number };

/** A held decision counts as made, so its delivery does not wait. */
const waitingIn = statement<Counted & { section: string }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('deliveries')
        .select('type')
        .where('space_id', '=', p.space)
        .where('section', '=', p.section)
        .where('state', '=', 'pending')
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => ['type as name', eb.fn.countAll<number>().as('n')])
    .groupBy('type'),
);

const waitingOf = statement<Counted & { agent: string }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('deliveries')
        .select('seq')
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent)
        .where('section', 'in', ['needs_you', 'alerts', 'new_agents'])
        .where('state', '=', 'pending')
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
);

const deliveries = statement<Counted>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb.selectFrom('deliveries').select('seq').where('space_id', '=', p.space).limit(p.most).as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
);

const delivered = statement<Range>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('deliveries')
        .select('type')
        .where('space_id', '=', p.space)
        .where('seq', '>=', p.from)
        .where('seq', '<', p.before)
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => ['type as name', eb.fn.countAll<number>().as('n')])
    .groupBy('type'),
);

const decided = statement<Range>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('decisions')
        .select('verdict')
        .where('space_id', '=', p.space)
        .where('seq', '>=', p.from)
        .where('seq', '<', p.before)
        .where('state', '!=', 'undone')
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => ['verdict as name', eb.fn.countAll<number>().as('n')])
    .groupBy('verdict'),
);

const answered = statement<Counted & { agent: string; from: number }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('decisions')
        .select('seq')
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent)
        .where('seq', '>=', p.from)
        .where('state', '=', 'effective')
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
);

const took = (db: QueryCreator<Tables>, p: Range) =>
  db
    .selectFrom('decisions')
    .select(sql<number>`decided_at - delivered_at`.as('took'))
    .where('space_id', '=', p.space)
    .where('seq', '>=', p.from)
    .where('seq', '<', p.before)
    .where('state', '=', 'effective')
    .orderBy('seq', 'desc')
    .limit(p.most);

/** Two statements, so that each can use its index. */
const times = statement<Range>()(took);
const timesOf = statement<Range & { agent: string }>()((db, p) =>
  took(db, p).where('agent_id', '=', p.agent),
);

const newestCallbacks = statement<Counted & { agent: string }>()((db, p) =>
  db
    .selectFrom('jobs')
    .select(['state', 'attempts'])
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('kind', '=', 'callback')
    .orderBy('created_at', 'desc')
    .limit(p.most),
);

export function countRows(session: Session, space: string): CountRows {
  return {
    waitingIn: async (section, most) =>
      toMap<DeliveryType>(await session.all(waitingIn, { space, section, most })),
    waitingOf: async (agent, most) => (await session.one(waitingOf, { space, agent, most }))?.n ?? 0,
    deliveries: async (most) => (await session.one(deliveries, { space, most }))?.n ?? 0,
    deliveredBetween: async (from, before, most) =>
      toMap<DeliveryType>(await session.all(delivered, { space, from, before, most })),
    decidedBetween: async (from, before, most) =>
      toMap<Verdict>(await session.all(decided, { space, from, before, most })),
    answered: async (agent, from, most) =>
      (await session.one(answered, { space, agent, from, most }))?.n ?? 0,
    answerTimes: async ({ agent, ...range }) => {
      const rows =
        agent === undefined
          ? await session.all(times, { space, ...range })
          : await session.all(timesOf, { space, agent, ...range });
      return rows.map((row) => row.took);
    },
    failingCallbacks: async (agent, most) => {
      const jobs = await session.all(newestCallbacks, { space, agent, most });
      return jobs.filter((job) => job.state !== 'done' && job.attempts > 0).length;
    },
  };
}

function toMap<Name extends string>(rows: readonly { name: string; n: number }[]): Map<Name, number> {
  return new Map(rows.map((row) => [row.name as Name, row.n]));
}
