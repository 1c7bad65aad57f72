import type { Tier } from '../../../core/agents/key.ts';
import type { SubscriptionRows } from '../../../core/events/store.ts';
import type { Subscription } from '../../../core/events/subscriptions/subscription.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Sealer } from '../agents/agents.ts';

const COLUMNS = [
  'space_id',
  'subscription_id',
  'agent_id',
  'body',
  'is_default',
  'created_at',
  'tier',
] as const;

type Row = Pick<Tables['subscriptions'], (typeof COLUMNS)[number]>;

const insert = insertOf('subscriptions', COLUMNS);

const update = statement<{ space: string; id: string; body: string; tier: string }>()((db, p) =>
  db
    .updateTable('subscriptions')
    .set({ body: p.body, tier: p.tier, is_default: 0 })
    .where('space_id', '=', p.space)
    .where('subscription_id', '=', p.id),
);

const setSecret = statement<{ space: string; id: string; secret: Uint8Array }>()((db, p) =>
  db
    .updateTable('subscriptions')
    .set({ secret: p.secret })
    .where('space_id', '=', p.space)
    .where('subscription_id', '=', p.id),
);

const secretOf = statement<{ space: string; id: string }>()((db, p) =>
  db
    .selectFrom('subscriptions')
    .select('secret')
    .where('space_id', '=', p.space)
    .where('subscription_id', '=', p.id),
);

const remove = statement<{ space: string; id: string }>()((db, p) =>
  db.deleteFrom('subscriptions').where('space_id', '=', p.space).where('subscription_id', '=', p.id),
);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db
    .selectFrom('subscriptions')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('subscription_id', '=', p.id),
);

const all = statement<{ space: string }>()((db, p) =>
  db.selectFrom('subscriptions').select(COLUMNS).where('space_id', '=', p.space).orderBy('created_at'),
);

const byAgent = statement<{ space: string; agent: string }>()((db, p) =>
  db
    .selectFrom('subscriptions')
    .select(COLUMNS)
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .orderBy('created_at'),
);

const decoder = new TextDecoder();

export function subscriptionRows(session: Session, space: string, sealer: Sealer): SubscriptionRows {
  const identity = (id: string) => `subscription:${space}:${id}`;
  return {
    insert: async (s) => void (await session.run(insert, fromSubscription(s))),
    update: async ({ id, body, tier }) =>
      void (await session.run(update, { space, id, body: JSON.stringify(body), tier })),
    setSecret: async (id, secret) =>
      void (await session.run(setSecret, { space, id, secret: sealer.seal(secret, identity(id)) })),
    secret: async (id) => {
      const row = await session.one(secretOf, { space, id });
      return row?.secret == null ? null : decoder.decode(sealer.open(row.secret, identity(id)));
    },
    delete: (id) => session.run(remove, { space, id }),
    get: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined ? null : toSubscription(row);
    },
    all: async () => (await session.all(all, { space })).map(toSubscription),
    of: async (agent) => (await session.all(byAgent, { space, agent })).map(toSubscription),
  };
}

function toSubscription(row: Row): Subscription {
  return {
    space: row.space_id,
    id: row.subscription_id,
    agent: row.agent_id,
    body: JSON.parse(row.body),
    isDefault: row.is_default === 1,
    createdAt: row.created_at,
    tier: row.tier as Tier,
  };
}

function fromSubscription(s: Subscription): Row {
  return {
    space_id: s.space,
    subscription_id: s.id,
    agent_id: s.agent,
    body: JSON.stringify(s.body),
    is_default: s.isDefault ? 1 : 0,
    created_at: s.createdAt,
    tier: s.tier,
  };
}
