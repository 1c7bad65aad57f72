import type { KeyRecord, Tier } from '../../../core/agents/key.ts';
import type { KeyRows } from '../../../core/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('keys', [
  'space_id',
  'key_id',
  'agent_id',
  'tier',
  'last_four',
  'digest',
  'created_at',
  'expires_at',
  'revoked_at',
]);

const keysOf = statement<{ space: string; agent: string }>()((db, p) =>
  db
    .selectFrom('keys')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .orderBy('created_at')
    .orderBy('key_id'),
);

const expireOthers = statement<{ space: string; agent: string; except: string; at: number }>()((db, p) =>
  db
    .updateTable('keys')
    .set({ expires_at: p.at })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('key_id', '!=', p.except)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.at)])),
);

const revoke = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('keys')
    .set({ revoked_at: p.at })
    .where('space_id', '=', p.space)
    .where('key_id', '=', p.id)
    .where('revoked_at', 'is', null),
);

export function keyRows(session: Session, space: string): KeyRows {
  return {
    insert: async (k) => void (await session.run(insert, { ...fromKey(k), space_id: space })),
    list: async (agent) => (await session.all(keysOf, { space, agent })).map(toKey),
    expireOthers: (agent, except, at) => session.run(expireOthers, { space, agent, except, at }),
    revoke: (id, at) => session.run(revoke, { space, id, at }),
  };
}

export function toKey(row: Tables['keys']): KeyRecord {
  return {
    space: row.space_id,
    id: row.key_id,
    agent: row.agent_id,
    tier: toTier(row.tier),
    lastFour: row.last_four,
    digest: row.digest,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

function fromKey(k: KeyRecord): Tables['keys'] {
  return {
    space_id: k.space,
    key_id: k.id,
    agent_id: k.agent,
    tier: k.tier,
    last_four: k.lastFour,
    digest: k.digest,
    created_at: k.createdAt,
    expires_at: k.expiresAt,
    revoked_at: k.revokedAt,
  };
}

/** One text for all: each row of a database brings its own, and idle connections keep it. */
function toTier(text: string): Tier {
  return text === 'live' ? 'live' : 'test';
}
