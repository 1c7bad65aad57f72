import type { Tier } from '../../../core/agents/key.ts';
import type { Algorithm, Producer, ProducerKey, Refusal } from '../../../core/events/producer.ts';
import type { ProducerRows } from '../../../core/events/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Sealer } from '../agents/agents.ts';

const insert = insertOf('producers', [
  'space_id',
  'producer_id',
  'name',
  'tier',
  'any_id',
  'created_at',
  'last_seen_at',
]);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('producers').selectAll().where('space_id', '=', p.space).where('producer_id', '=', p.id),
);

const listAll = statement<{ space: string }>()((db, p) =>
  db.selectFrom('producers').selectAll().where('space_id', '=', p.space).orderBy('producer_id'),
);

const seen = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('producers')
    .set({ last_seen_at: p.at })
    .where('space_id', '=', p.space)
    .where('producer_id', '=', p.id),
);

const KEY = [
  'space_id',
  'key_id',
  'producer_id',
  'algorithm',
  'created_at',
  'expires_at',
  'revoked_at',
] as const;
export type KeyRow = Pick<Tables['producer_keys'], (typeof KEY)[number]>;

const insertKey = insertOf('producer_keys', [...KEY, 'secret']);

const keysOf = statement<{ space: string; producer: string }>()((db, p) =>
  db
    .selectFrom('producer_keys')
    .select(KEY)
    .where('space_id', '=', p.space)
    .where('producer_id', '=', p.producer)
    .orderBy('created_at'),
);

const secretOf = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('producer_keys').select('secret').where('space_id', '=', p.space).where('key_id', '=', p.id),
);

const setSecret = statement<{ space: string; id: string; secret: Uint8Array }>()((db, p) =>
  db
    .updateTable('producer_keys')
    .set({ secret: p.secret })
    .where('space_id', '=', p.space)
    .where('key_id', '=', p.id),
);

const expireOthers = statement<{ space: string; producer: string; except: string; at: number }>()((db, p) =>
  db
    .updateTable('producer_keys')
    .set({ expires_at: p.at })
    .where('space_id', '=', p.space)
    .where('producer_id', '=', p.producer)
    .where('key_id', '!=', p.except)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.at)])),
);

const revokeKey = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('producer_keys')
    .set({ revoked_at: p.at })
    .where('space_id', '=', p.space)
    .where('key_id', '=', p.id)
    .where('revoked_at', 'is', null),
);

const setKeyEnd = statement<{ space: string; id: string; at: number | null }>()((db, p) =>
  db
    .updateTable('producer_keys')
    .set({ expires_at: p.at })
    .where('space_id', '=', p.space)
    .where('key_id', '=', p.id),
);

const insertRefusal = insertOf('refusals', ['space_id', 'producer_id', 'at', 'event_id', 'status', 'reason']);

const refusals = statement<{ space: string; producer: string; limit: number }>()((db, p) =>
  db
    .selectFrom('refusals')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('producer_id', '=', p.producer)
    .orderBy('at', 'desc')
    .limit(p.limit),
);

const deleteRefusals = statement<{ space: string; before: number }>()((db, p) =>
  db.deleteFrom('refusals').where('space_id', '=', p.space).where('at', '<', p.before),
);

export function secretIdentity(space: string, key: string): string {
  return `producer-key:${space}:${key}`;
}

const decoder = new TextDecoder();

export function producerRows(session: Session, space: string, sealer: Sealer): ProducerRows {
  const seal = (id: string, secret: string) => sealer.seal(secret, secretIdentity(space, id));
  return {
    insert: async (p) => void (await session.run(insert, fromProducer(p))),
    get: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined ? null : toProducer(row);
    },
    list: async () => (await session.all(listAll, { space })).map(toProducer),
    seen: async (id, at) => void (await session.run(seen, { space, id, at })),
    insertKey: async (key, secret) =>
      void (await session.run(insertKey, { ...fromKey(key), secret: seal(key.id, secret) })),
    keys: async (producer) => (await session.all(keysOf, { space, producer })).map(toKey),
    secret: async (id) => {
      const row = await session.one(secretOf, { space, id });
      return row === undefined ? null : decoder.decode(sealer.open(row.secret, secretIdentity(space, id)));
    },
    setSecret: async (id, secret) =>
      void (await session.run(setSecret, { space, id, secret: seal(id, secret) })),
    expireOthers: (producer, except, at) => session.run(expireOthers, { space, producer, except, at }),
    revokeKey: (id, at) => session.run(revokeKey, { space, id, at }),
    setKeyEnd: async (id, at) => void (await session.run(setKeyEnd, { space, id, at })),
    insertRefusal: async (r) => void (await session.run(insertRefusal, fromRefusal(r))),
    refusals: async (producer, limit) =>
      (await session.all(refusals, { space, producer, limit })).map(toRefusal),
    deleteRefusalsBefore: (before) => session.run(deleteRefusals, { space, before }),
  };
}

export function toProducer(row: Tables['producers']): Producer {
  return {
    space: row.space_id,
    id: row.producer_id,
    name: row.name,
    tier: row.tier as Tier,
    anyId: row.any_id === 1,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  };
}

function fromProducer(p: Producer): Tables['producers'] {
  return {
    space_id: p.space,
    producer_id: p.id,
    name: p.name,
    tier: p.tier,
    any_id: p.anyId ? 1 : 0,
    created_at: p.createdAt,
    last_seen_at: p.lastSeenAt,
  };
}

export function toKey(row: KeyRow): ProducerKey {
  return {
    space: row.space_id,
    id: row.key_id,
    producer: row.producer_id,
    algorithm: row.algorithm as Algorithm,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

function fromKey(key: ProducerKey): KeyRow {
  return {
    space_id: key.space,
    key_id: key.id,
    producer_id: key.producer,
    algorithm: key.algorithm,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
}

function toRefusal(row: Tables['refusals']): Refusal {
  return {
    space: row.space_id,
    producer: row.producer_id,
    at: row.at,
    eventId: row.event_id,
    status: row.status,
    reason: row.reason,
  };
}

function fromRefusal(r: Refusal): Tables['refusals'] {
  return {
    space_id: r.space,
    producer_id: r.producer,
    at: r.at,
    event_id: r.eventId,
    status: r.status,
    reason: r.reason,
  };
}
