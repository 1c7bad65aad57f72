import type { CallerToken } from '../../../core/tasks/callers/callers.ts';
import type { StoredCard, Visibility } from '../../../core/tasks/callers/card.ts';
import type { CallerRows, CardRows, TaskDirectory } from '../../../core/tasks/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('callers', [
  'space_id',
  'token_id',
  'agent_id',
  'name',
  'digest',
  'last_four',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
]);

const ofAgent = statement<{ space: string; agent: string }>()((db, p) =>
  db
    .selectFrom('callers')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    // Nobody makes more than this by hand. Beyond it, which ones are left out is undefined: no index has them in
    // order.
    .limit(10_000),
);

const byId = statement<{ space: string; agent: string; id: string }>()((db, p) =>
  db
    .selectFrom('callers')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('token_id', '=', p.id),
);

const revoke = statement<{ space: string; agent: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('callers')
    .set({ revoked_at: p.at })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('token_id', '=', p.id)
    .where('revoked_at', 'is', null),
);

// Another server may have written a later time meanwhile.
const used = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('callers')
    .set({ last_used_at: p.at })
    .where('space_id', '=', p.space)
    .where('token_id', '=', p.id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', p.at)])),
);

const byDigest = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('callers').selectAll().where('digest', '=', p.digest),
);

export function callerRows(session: Session, space: string): CallerRows {
  return {
    insert: async (token) =>
      void (await session.run(insert, {
        space_id: space,
        token_id: token.id,
        agent_id: token.agent,
        name: token.name,
        digest: token.digest,
        last_four: token.lastFour,
        created_at: token.createdAt,
        expires_at: token.expiresAt,
        revoked_at: token.revokedAt,
        last_used_at: token.lastUsedAt,
      })),
    get: async (agent, id) => {
      const row = await session.one(byId, { space, agent, id });
      return row === undefined ? null : toToken(row);
    },
    list: async (agent) =>
      (await session.all(ofAgent, { space, agent })).map(toToken).sort((a, b) => b.createdAt - a.createdAt),
    revoke: async (agent, id, at) => (await session.run(revoke, { space, agent, id, at })) === 1,
    used: async (id, at) => void (await session.run(used, { space, id, at })),
  };
}

function toToken(row: Tables['callers']): CallerToken {
  return {
    space: row.space_id,
    id: row.token_id,
    agent: row.agent_id,
    name: row.name,
    digest: row.digest,
    lastFour: row.last_four,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

const card = statement<{ space: string; agent: string }>()((db, p) =>
  db.selectFrom('cards').selectAll().where('space_id', '=', p.space).where('agent_id', '=', p.agent),
);

const putCard = statement<Tables['cards']>()((db, p) =>
  db
    .insertInto('cards')
    .values({
      space_id: p.space_id,
      agent_id: p.agent_id,
      visibility: p.visibility,
      wait_seconds: p.wait_seconds,
      body: p.body,
      changed_at: p.changed_at,
    })
    .onConflict((oc) =>
      oc.columns(['space_id', 'agent_id']).doUpdateSet({
        visibility: p.visibility,
        wait_seconds: p.wait_seconds,
        body: p.body,
        changed_at: p.changed_at,
      }),
    ),
);

export function cardRows(session: Session, space: string): CardRows {
  return {
    get: async (agent) => {
      const row = await session.one(card, { space, agent });
      return row === undefined ? null : toCard(row);
    },
    put: async (agent, { visibility, waitSeconds, changedAt, ...body }) =>
      void (await session.run(putCard, {
        space_id: space,
        agent_id: agent,
        visibility,
        wait_seconds: waitSeconds,
        body: JSON.stringify(body),
        changed_at: changedAt,
      })),
  };
}

function toCard(row: Tables['cards']): StoredCard {
  return {
    ...(JSON.parse(row.body) as Omit<StoredCard, 'visibility' | 'waitSeconds' | 'changedAt'>),
    visibility: row.visibility as Visibility,
    waitSeconds: row.wait_seconds,
    changedAt: row.changed_at,
  };
}

/** Space, agent and card in one query: every call starts with it. */
const address = statement<{ handle: string; agent: string }>()((db, p) =>
  db
    .selectFrom('spaces')
    .innerJoin('agents', 'agents.space_id', 'spaces.space_id')
    .leftJoin('cards', (join) =>
      join.onRef('cards.space_id', '=', 'agents.space_id').onRef('cards.agent_id', '=', 'agents.agent_id'),
    )
    .select([
      'agents.space_id',
      'agents.agent_id',
      'agents.created_at',
      'agents.sample',
      'cards.visibility',
      'cards.wait_seconds',
      'cards.body',
      'cards.changed_at',
    ])
    .where('spaces.handle', '=', p.handle)
    .where('agents.agent_id', '=', p.agent),
);

const lost = statement<{ before: number; limit: number }>()((db, p) =>
  db.selectFrom('links').selectAll().where('until', '<=', p.before).orderBy('until').limit(p.limit),
);

export function taskDirectory(on: Session): TaskDirectory {
  return {
    agentAddress: async (handle, agent) => {
      const row = await on.one(address, { handle, agent });
      if (row === undefined) return null;
      const { space_id, agent_id, created_at, sample, visibility, wait_seconds, body, changed_at } = row;
      const isEdited = visibility !== null && wait_seconds !== null && body !== null && changed_at !== null;
      const card = isEdited
        ? toCard({ space_id, agent_id, visibility, wait_seconds, body, changed_at })
        : null;
      return { space: space_id, createdAt: created_at, isSample: sample === 1, card };
    },
    callerByDigest: async (digest) => {
      const row = await on.one(byDigest, { digest });
      return row === undefined ? null : toToken(row);
    },
    lostLinks: async (before, limit) =>
      (await on.all(lost, { before, limit })).map((row) => ({
        space: row.space_id,
        agent: row.agent_id,
        link: row.link_id,
      })),
  };
}
