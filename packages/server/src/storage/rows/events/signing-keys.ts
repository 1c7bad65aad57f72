import type { SigningKey, SigningRows } from '../../../core/tasks/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Sealer } from '../agents/agents.ts';

const insert = insertOf('signing_keys', ['space_id', 'key_id', 'created_at', 'retired_at', 'jwk']);

const list = statement<{ space: string }>()((db, p) =>
  db
    .selectFrom('signing_keys')
    .selectAll()
    .where('space_id', '=', p.space)
    .orderBy('created_at', 'desc')
    .limit(20),
);

const retire = statement<{ space: string; id: string; at: number }>()((db, p) =>
  db
    .updateTable('signing_keys')
    .set({ retired_at: p.at })
    .where('space_id', '=', p.space)
    .where('key_id', '=', p.id),
);

const decoder = new TextDecoder();

export function signingRows(session: Session, space: string, sealer: Sealer): SigningRows {
  const identity = (id: string) => `signing:${space}:${id}`;
  return {
    insert: async (key) =>
      void (await session.run(insert, {
        space_id: space,
        key_id: key.id,
        created_at: key.createdAt,
        retired_at: key.retiredAt,
        jwk: sealer.seal(key.jwk, identity(key.id)),
      })),
    list: async () =>
      (await session.all(list, { space })).map(
        (row): SigningKey => ({
          id: row.key_id,
          jwk: decoder.decode(sealer.open(row.jwk, identity(row.key_id))),
          createdAt: row.created_at,
          retiredAt: row.retired_at,
        }),
      ),
    retire: async (id, at) => void (await session.run(retire, { space, id, at })),
  };
}
