import { sql } from 'kysely';
import type { Agent } from '../../../core/agents/agent.ts';
import type { AgentRows } from '../../../core/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Bodies } from '../events/bodies.ts';
import { removeAgent } from './remove-agent.ts';

/** The part of the vault that a row needs to seal its own secret. */
export interface Sealer {
  seal(plain: string | Uint8Array, identity: string): Uint8Array;
  open(sealed: Uint8Array, identity: string): Uint8Array;
  /** Whether this record was sealed with the current key. */
  isCurrent(sealed: Uint8Array): boolean;
}

const insert = insertOf('agents', [
  'space_id',
  'agent_id',
  'created_at',
  'accepted_at',
  'callbacks',
  'callback_secrets',
  'last_seen_at',
  'connected_at',
  'sample',
]);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('agents').selectAll().where('space_id', '=', p.space).where('agent_id', '=', p.id),
);

const listAll = statement<{ space: string }>()((db, p) =>
  db.selectFrom('agents').selectAll().where('space_id', '=', p.space).orderBy('agent_id'),
);

/** Names are ASCII, so both databases agree on lower case. */
const page = statement<{ space: string; after: string; like: string; limit: number }>()((db, p) =>
  db
    .selectFrom('agents')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '>', p.after)
    .where(sql<string>`lower(agent_id)`, 'like', sql<string>`${p.like} escape '\\'`)
    .orderBy('agent_id')
    .limit(p.limit),
);

const names = statement<{ space: string; limit: number }>()((db, p) =>
  db
    .selectFrom('agents')
    .select('agent_id')
    .where('space_id', '=', p.space)
    .orderBy('agent_id')
    .limit(p.limit),
);

const acceptOne = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('agents')
    .set({ accepted_at: p.at })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id)
    .where('accepted_at', 'is', null),
);

const accepted = statement<{ space: string; id: string }>()((db, p) =>
  db
    .selectFrom('agents')
    .select('agent_id')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id)
    .where('accepted_at', 'is not', null),
);

const setCallbacks = statement<{ space: string; id: string; callbacks: string }>()((db, p) =>
  db
    .updateTable('agents')
    .set({ callbacks: p.callbacks })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id),
);

const setSecrets = statement<{ space: string; id: string; secrets: Uint8Array }>()((db, p) =>
  db
    .updateTable('agents')
    .set({ callback_secrets: p.secrets })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id),
);

const seen = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('agents')
    .set({ last_seen_at: p.at })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id),
);

const connected = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('agents')
    .set({ last_seen_at: p.at, connected_at: p.at })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.id),
);

const samples = statement<{ space: string }>()((db, p) =>
  db.selectFrom('agents').select('agent_id').where('space_id', '=', p.space).where('sample', '=', 1),
);

export function agentRows(session: Session, space: string, sealer: Sealer, bodies: Bodies): AgentRows {
  const identity = (id: string) => `callback-secrets:${space}:${id}`;
  const seal = (id: string, secrets: unknown) => sealer.seal(JSON.stringify(secrets), identity(id));
  return {
    insert: async (a, secrets) =>
      void (await session.run(insert, {
        ...fromAgent(a),
        space_id: space,
        callback_secrets: seal(a.id, secrets),
      })),
    get: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined ? null : toAgent(row);
    },
    isAccepted: async (id) => (await session.one(accepted, { space, id })) !== undefined,
    list: async () => (await session.all(listAll, { space })).map(toAgent),
    page: async ({ after, containing, limit }) =>
      (await session.all(page, { space, after, like: `%${asLiteral(containing)}%`, limit })).map(toAgent),
    names: async (limit) => (await session.all(names, { space, limit })).map((row) => row.agent_id),
    accept: async (id, at) => void (await session.run(acceptOne, { space, id, at })),
    setCallbacks: async (id, callbacks) =>
      void (await session.run(setCallbacks, { space, id, callbacks: JSON.stringify(callbacks) })),
    secrets: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined
        ? []
        : JSON.parse(new TextDecoder().decode(sealer.open(row.callback_secrets, identity(id))));
    },
    setSecrets: async (id, secrets) =>
      void (await session.run(setSecrets, { space, id, secrets: seal(id, secrets) })),
    seen: async (id, at) => void (await session.run(seen, { space, id, at })),
    connected: async (id, at) => void (await session.run(connected, { space, id, at })),
    samples: async () => new Set((await session.all(samples, { space })).map((row) => row.agent_id)),
    remove: (id) => removeAgent(session, space, id, bodies),
  };
}

function toAgent(row: Tables['agents']): Agent {
  return {
    space: row.space_id,
    id: row.agent_id,
    createdAt: row.created_at,
    acceptedAt: row.accepted_at,
    callbacks: JSON.parse(row.callbacks),
    lastSeenAt: row.last_seen_at,
    connectedAt: row.connected_at,
    sample: row.sample === 1,
  };
}

function fromAgent(a: Agent): Omit<Tables['agents'], 'callback_secrets'> {
  return {
    space_id: a.space,
    agent_id: a.id,
    created_at: a.createdAt,
    accepted_at: a.acceptedAt,
    callbacks: JSON.stringify(a.callbacks),
    last_seen_at: a.lastSeenAt,
    connected_at: a.connectedAt,
    sample: a.sample ? 1 : 0,
  };
}

/** Escapes the wildcards, so that every character stands for itself. */
function asLiteral(text: string): string {
  return text.toLowerCase().replace(/[\\%_]/g, '\\$&');
}
