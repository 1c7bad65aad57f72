import type { Person, Role, SessionRecord, TokenRecord } from '../../../core/people/person.ts';
import type { PersonRows } from '../../../core/people/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('people', [
  'space_id',
  'person_id',
  'email',
  'name',
  'role',
  'password_hash',
  'created_at',
]);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('people').selectAll().where('space_id', '=', p.space).where('person_id', '=', p.id),
);

const byEmail = statement<{ space: string; email: string }>()((db, p) =>
  db.selectFrom('people').selectAll().where('space_id', '=', p.space).where('email', '=', p.email),
);

const listAll = statement<{ space: string }>()((db, p) =>
  db
    .selectFrom('people')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('person_id'),
);

const setPassword = statement<{ space: string; id: string; hash: string | null }>()((db, p) =>
  db
    .updateTable('people')
    .set({ password_hash: p.hash })
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.id),
);

const setRole = statement<{ space: string; id: string; role: string }>()((db, p) =>
  db
    .updateTable('people')
    .set({ role: p.role })
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.id),
);

const remove = statement<{ space: string; id: string; email: string; at: number }>()((db, p) =>
  db
    .updateTable('people')
    .set({ email: p.email, password_hash: null, role: 'reader', removed_at: p.at })
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.id),
);

const satAt = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('people').select('sat_at').where('space_id', '=', p.space).where('person_id', '=', p.id),
);

const setSatAt = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('people')
    .set({ sat_at: p.at })
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.id),
);

const listSessions = statement<{ space: string; person: string }>()((db, p) =>
  db
    .selectFrom('sessions')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.person)
    .orderBy('created_at', 'desc'),
);

const insertSession = insertOf('sessions', [
  'space_id',
  'digest',
  'person_id',
  'created_at',
  'expires_at',
  'proved_at',
  'device',
]);

const setProved = statement<{ space: string; digest: string; at: number }>()((db, p) =>
  db
    .updateTable('sessions')
    .set({ proved_at: p.at })
    .where('space_id', '=', p.space)
    .where('digest', '=', p.digest),
);

const deleteSession = statement<{ space: string; digest: string }>()((db, p) =>
  db.deleteFrom('sessions').where('space_id', '=', p.space).where('digest', '=', p.digest),
);

const deleteSessions = statement<{ space: string; person: string }>()((db, p) =>
  db.deleteFrom('sessions').where('space_id', '=', p.space).where('person_id', '=', p.person),
);

const deleteExpired = statement<{ space: string; now: number }>()((db, p) =>
  db.deleteFrom('sessions').where('space_id', '=', p.space).where('expires_at', '<=', p.now),
);

const insertToken = insertOf('tokens', [
  'space_id',
  'token_id',
  'person_id',
  'name',
  'digest',
  'last_four',
  'created_at',
  'revoked_at',
]);

const listTokens = statement<{ space: string; person: string }>()((db, p) =>
  db
    .selectFrom('tokens')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.person)
    .orderBy('created_at'),
);

const revokeToken = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('tokens')
    .set({ revoked_at: p.at })
    .where('space_id', '=', p.space)
    .where('token_id', '=', p.id)
    .where('revoked_at', 'is', null),
);

export function personRows(session: Session, space: string): PersonRows {
  return {
    insert: async (p) => void (await session.run(insert, { ...fromPerson(p), space_id: space })),
    get: async (id) => orNull(await session.one(byId, { space, id })),
    byEmail: async (email) => orNull(await session.one(byEmail, { space, email })),
    list: async () => (await session.all(listAll, { space })).map(toPerson),
    setPassword: async (id, hash) => void (await session.run(setPassword, { space, id, hash })),
    setRole: async (id, role) => void (await session.run(setRole, { space, id, role })),
    // An address that nobody can have or log in with, so that the real one is free for somebody else.
    remove: async (id, at) => void (await session.run(remove, { space, id, email: `removed:${id}`, at })),
    satAt: async (id) => (await session.one(satAt, { space, id }))?.sat_at ?? null,
    setSatAt: async (id, at) => void (await session.run(setSatAt, { space, id, at })),
    listSessions: async (person) => (await session.all(listSessions, { space, person })).map(toSession),
    insertSession: async (s) =>
      void (await session.run(insertSession, { ...fromSession(s), space_id: space })),
    setProved: async (digest, at) => void (await session.run(setProved, { space, digest, at })),
    deleteSession: (digest) => session.run(deleteSession, { space, digest }),
    deleteSessionsOf: (person) => session.run(deleteSessions, { space, person }),
    deleteExpiredSessions: (now) => session.run(deleteExpired, { space, now }),
    insertToken: async (t) => void (await session.run(insertToken, { ...fromToken(t), space_id: space })),
    listTokens: async (person) => (await session.all(listTokens, { space, person })).map(toToken),
    revokeToken: (id, at) => session.run(revokeToken, { space, id, at }),
  };
}

function orNull(row: Tables['people'] | undefined): Person | null {
  return row === undefined ? null : toPerson(row);
}

export function toPerson(row: Tables['people']): Person {
  return {
    space: row.space_id,
    id: row.person_id,
    email: row.email,
    name: row.name,
    role: row.role as Role,
    passwordHash: row.password_hash,
    createdAt: row.created_at,
  };
}

function fromPerson(p: Person): Omit<Tables['people'], 'sat_at' | 'removed_at'> {
  return {
    space_id: p.space,
    person_id: p.id,
    email: p.email,
    name: p.name,
    role: p.role,
    password_hash: p.passwordHash,
    created_at: p.createdAt,
  };
}

export function toSession(row: Tables['sessions']): SessionRecord {
  return {
    space: row.space_id,
    digest: row.digest,
    person: row.person_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    provedAt: row.proved_at,
    device: row.device,
  };
}

function fromSession(s: SessionRecord): Tables['sessions'] {
  return {
    space_id: s.space,
    digest: s.digest,
    person_id: s.person,
    created_at: s.createdAt,
    expires_at: s.expiresAt,
    proved_at: s.provedAt,
    device: s.device,
  };
}

export function toToken(row: Tables['tokens']): TokenRecord {
  return {
    space: row.space_id,
    id: row.token_id,
    person: row.person_id,
    name: row.name,
    digest: row.digest,
    lastFour: row.last_four,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}

function fromToken(t: TokenRecord): Tables['tokens'] {
  return {
    space_id: t.space,
    token_id: t.id,
    person_id: t.person,
    name: t.name,
    digest: t.digest,
    last_four: t.lastFour,
    created_at: t.createdAt,
    revoked_at: t.revokedAt,
  };
}
