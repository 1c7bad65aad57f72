import type { Reset } from '../../../core/people/membership/reset.ts';
import type { PasskeyRecord } from '../../../core/people/passkeys/passkey.ts';
import type { PasskeyRows, ResetRows } from '../../../core/people/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('passkeys', [
  'space_id',
  'passkey_id',
  'person_id',
  'name',
  'digest',
  'credential',
  'counter',
  'backed_up',
  'created_at',
  'last_used_at',
]);

type OfPerson = { space: string; person: string };
type ById = { space: string; id: string };

const ofPerson = statement<OfPerson>()((db, p) =>
  db
    .selectFrom('passkeys')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.person)
    .orderBy('created_at')
    .orderBy('passkey_id'),
);

const rename = statement<ById & { name: string }>()((db, p) =>
  db
    .updateTable('passkeys')
    .set({ name: p.name })
    .where('space_id', '=', p.space)
    .where('passkey_id', '=', p.id),
);

const used = statement<ById & { counter: number; at: number }>()((db, p) =>
  db
    .updateTable('passkeys')
    .set({ counter: p.counter, last_used_at: p.at })
    .where('space_id', '=', p.space)
    .where('passkey_id', '=', p.id),
);

const remove = statement<ById>()((db, p) =>
  db.deleteFrom('passkeys').where('space_id', '=', p.space).where('passkey_id', '=', p.id),
);

const removeOf = statement<OfPerson>()((db, p) =>
  db.deleteFrom('passkeys').where('space_id', '=', p.space).where('person_id', '=', p.person),
);

const wasUsed = statement<{ space: string; digest: string }>()((db, p) =>
  db
    .selectFrom('used_challenges')
    .select('digest')
    .where('space_id', '=', p.space)
    .where('digest', '=', p.digest),
);

const markUsed = insertOf('used_challenges', ['space_id', 'digest', 'expires_at']);

const forgetUsed = statement<{ space: string; now: number }>()((db, p) =>
  db.deleteFrom('used_challenges').where('space_id', '=', p.space).where('expires_at', '<=', p.now),
);

export function passkeyRows(session: Session, space: string): PasskeyRows {
  return {
    insert: async (k) => void (await session.run(insert, { ...fromPasskey(k), space_id: space })),
    of: async (person) => (await session.all(ofPerson, { space, person })).map(toPasskey),
    rename: async (id, name) => void (await session.run(rename, { space, id, name })),
    used: async (id, counter, at) => void (await session.run(used, { space, id, counter, at })),
    remove: async (id) => void (await session.run(remove, { space, id })),
    removeOf: async (person) => void (await session.run(removeOf, { space, person })),
    wasUsed: async (digest) => (await session.one(wasUsed, { space, digest })) !== undefined,
    markUsed: async (digest, expiresAt) =>
      void (await session.run(markUsed, { space_id: space, digest, expires_at: expiresAt })),
    forgetUsed: async (now) => void (await session.run(forgetUsed, { space, now })),
  };
}

export function toPasskey(row: Tables['passkeys']): PasskeyRecord {
  return {
    space: row.space_id,
    id: row.passkey_id,
    person: row.person_id,
    name: row.name,
    digest: row.digest,
    credential: row.credential,
    counter: row.counter,
    isBackedUp: row.backed_up === 1,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

function fromPasskey(k: PasskeyRecord): Tables['passkeys'] {
  return {
    space_id: k.space,
    passkey_id: k.id,
    person_id: k.person,
    name: k.name,
    digest: k.digest,
    credential: k.credential,
    counter: k.counter,
    backed_up: k.isBackedUp ? 1 : 0,
    created_at: k.createdAt,
    last_used_at: k.lastUsedAt,
  };
}

const insertReset = insertOf('resets', ['space_id', 'person_id', 'digest', 'expires_at', 'given_by']);

const resetOf = statement<OfPerson>()((db, p) =>
  db.selectFrom('resets').selectAll().where('space_id', '=', p.space).where('person_id', '=', p.person),
);

const removeReset = statement<OfPerson>()((db, p) =>
  db.deleteFrom('resets').where('space_id', '=', p.space).where('person_id', '=', p.person),
);

const removeGivenBy = statement<{ space: string; giver: string }>()((db, p) =>
  db.deleteFrom('resets').where('space_id', '=', p.space).where('given_by', '=', p.giver),
);

export function resetRows(session: Session, space: string): ResetRows {
  return {
    put: async ({ person, digest, by, expiresAt }) => {
      await session.run(removeReset, { space, person });
      const row = { space_id: space, person_id: person, digest, expires_at: expiresAt, given_by: by };
      await session.run(insertReset, row);
    },
    of: async (person) => {
      const row = await session.one(resetOf, { space, person });
      return row === undefined ? null : toReset(row);
    },
    remove: async (person) => void (await session.run(removeReset, { space, person })),
    removeGivenBy: async (giver) => void (await session.run(removeGivenBy, { space, giver })),
  };
}

export function toReset(row: Tables['resets']): Reset {
  return {
    space: row.space_id,
    person: row.person_id,
    digest: row.digest,
    by: row.given_by,
    expiresAt: row.expires_at,
  };
}
