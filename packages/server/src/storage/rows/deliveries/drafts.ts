import type { DraftRows } from '../../../core/deliveries/store.ts';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type ById = { space: string; delivery: string; person: string };

const byId = statement<ById>()((db, p) =>
  db
    .selectFrom('drafts')
    .select(['draft', 'saved_at'])
    .where('space_id', '=', p.space)
    .where('delivery_id', '=', p.delivery)
    .where('person_id', '=', p.person),
);

const put = statement<Tables['drafts']>()((db, p) =>
  db
    .insertInto('drafts')
    .values({
      space_id: p.space_id,
      delivery_id: p.delivery_id,
      person_id: p.person_id,
      saved_at: p.saved_at,
      draft: p.draft,
    })
    .onConflict((oc) =>
      oc
        .columns(['space_id', 'delivery_id', 'person_id'])
        .doUpdateSet({ saved_at: p.saved_at, draft: p.draft }),
    ),
);

const remove = statement<ById>()((db, p) =>
  db
    .deleteFrom('drafts')
    .where('space_id', '=', p.space)
    .where('delivery_id', '=', p.delivery)
    .where('person_id', '=', p.person),
);

const removeOn = statement<{ space: string; delivery: string }>()((db, p) =>
  db.deleteFrom('drafts').where('space_id', '=', p.space).where('delivery_id', '=', p.delivery),
);

const removeBy = statement<{ space: string; person: string }>()((db, p) =>
  db.deleteFrom('drafts').where('space_id', '=', p.space).where('person_id', '=', p.person),
);

export function draftRows(session: Session, space: string): DraftRows {
  return {
    get: async (delivery, person) => {
      const row = await session.one(byId, { space, delivery, person });
      return row === undefined ? null : { sealed: row.draft, savedAt: row.saved_at };
    },
    put: async (delivery, person, draft, at) => {
      const row = { space_id: space, delivery_id: delivery, person_id: person, saved_at: at, draft };
      await session.run(put, row);
    },
    remove: async (delivery, person) => void (await session.run(remove, { space, delivery, person })),
    removeOn: async (delivery) => void (await session.run(removeOn, { space, delivery })),
    removeBy: async (person) => void (await session.run(removeBy, { space, person })),
  };
}
