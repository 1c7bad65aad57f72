import type { PreferenceRows } from '../../../core/people/store.ts';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type ByPerson = { space: string; person: string };

const byPerson = statement<ByPerson>()((db, p) =>
  db
    .selectFrom('preferences')
    .select(['settings', 'target', 'digest_at'])
    .where('space_id', '=', p.space)
    .where('person_id', '=', p.person),
);

const put = statement<Tables['preferences']>()((db, p) => {
  const values = { settings: p.settings, target: p.target, digest_at: p.digest_at };
  return db
    .insertInto('preferences')
    .values({ space_id: p.space_id, person_id: p.person_id, ...values })
    .onConflict((oc) => oc.columns(['space_id', 'person_id']).doUpdateSet(values));
});

const remove = statement<ByPerson>()((db, p) =>
  db.deleteFrom('preferences').where('space_id', '=', p.space).where('person_id', '=', p.person),
);

export function preferenceRows(session: Session, space: string): PreferenceRows {
  return {
    get: async (person) => {
      const row = await session.one(byPerson, { space, person });
      return row === undefined
        ? null
        : { settings: row.settings, target: row.target, digestAt: row.digest_at };
    },
    put: async (person, { settings, target, digestAt }) =>
      void (await session.run(put, {
        space_id: space,
        person_id: person,
        settings,
        target,
        digest_at: digestAt,
      })),
    remove: async (person) => void (await session.run(remove, { space, person })),
  };
}
