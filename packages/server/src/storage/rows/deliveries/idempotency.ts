import type { IdempotencyRows } from '../../../core/deliveries/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';

// Without the time, so that the query is the same each time and is sent once per batch.
const byKey = statement<{ space: string; agent: string; key: string }>()((db, p) =>
  db
    .selectFrom('idempotency')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('idempotency_key', '=', p.key),
);

/** Replaces a record that has expired but was not yet cleared away. */
const put = insertOf(
  'idempotency',
  [
    'space_id',
    'agent_id',
    'idempotency_key',
    'body_sha256',
    'delivery_id',
    'deduplicated',
    'created_at',
    'expires_at',
  ],
  ['space_id', 'agent_id', 'idempotency_key'],
);

const deleteExpired = statement<{ space: string; now: number; limit: number }>()((db, p) =>
  db
    .deleteFrom('idempotency')
    .where('space_id', '=', p.space)
    .where('expires_at', '<=', p.now)
    .where((eb) =>
      eb(
        eb.refTuple('agent_id', 'idempotency_key'),
        'in',
        eb
          .selectFrom('idempotency')
          .select(['agent_id', 'idempotency_key'])
          .where('space_id', '=', p.space)
          .where('expires_at', '<=', p.now)
          .limit(p.limit)
          .$asTuple('agent_id', 'idempotency_key'),
      ),
    ),
);

export function idempotencyRows(session: Session, space: string): IdempotencyRows {
  return {
    get: async (agent, key, now) => {
      const row = await session.one(byKey, { space, agent, key });
      if (row === undefined || row.expires_at <= now) return null;
      return {
        agent,
        key,
        bodyHash: row.body_sha256,
        delivery: row.delivery_id,
        isDeduplicated: row.deduplicated === 1,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      };
    },
    put: async (r) =>
      void (await session.run(put, {
        space_id: space,
        agent_id: r.agent,
        idempotency_key: r.key,
        body_sha256: r.bodyHash,
        delivery_id: r.delivery,
        deduplicated: r.isDeduplicated ? 1 : 0,
        created_at: r.createdAt,
        expires_at: r.expiresAt,
      })),
    deleteExpired: (now, limit) => session.run(deleteExpired, { space, now, limit }),
  };
}
