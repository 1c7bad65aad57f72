import type { Blob, BlobRows } from '../../../core/tasks/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type ById = { space: string; id: string };

const insert = insertOf('blobs', [
  'space_id',
  'blob_id',
  'agent_id',
  'digest',
  'size',
  'chunks',
  'created_at',
  'is_unnamed',
]);

const byId = statement<ById>()((db, p) =>
  db.selectFrom('blobs').selectAll().where('space_id', '=', p.space).where('blob_id', '=', p.id),
);

const byDigest = statement<{ space: string; digest: string }>()((db, p) =>
  db
    .selectFrom('blobs')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('digest', '=', p.digest)
    .where('digest', 'is not', null),
);

const finish = statement<ById & { digest: string; size: number; chunks: number }>()((db, p) =>
  db
    .updateTable('blobs')
    .set({ digest: p.digest, size: p.size, chunks: p.chunks })
    .where('space_id', '=', p.space)
    .where('blob_id', '=', p.id),
);

const renew = statement<ById & { at: number }>()((db, p) =>
  db
    .updateTable('blobs')
    .set({ created_at: p.at })
    .where('space_id', '=', p.space)
    .where('blob_id', '=', p.id),
);

const grow = statement<ById & { size: number }>()((db, p) =>
  db.updateTable('blobs').set({ size: p.size }).where('space_id', '=', p.space).where('blob_id', '=', p.id),
);

const unnamed = statement<{ space: string; agent: string; since: number }>()((db, p) =>
  db
    .selectFrom('blobs')
    .select((eb) => [
      eb.fn.countAll<number>().as('n'),
      eb.cast<number | null>(eb.fn.sum('size'), 'bigint').as('bytes'),
    ])
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('created_at', '>=', p.since)
    .where('is_unnamed', '=', 1),
);

const name = statement<ById>()((db, p) =>
  db
    .updateTable('blobs')
    .set({ is_unnamed: 0 })
    .where('space_id', '=', p.space)
    .where('blob_id', '=', p.id)
    .where('is_unnamed', '=', 1),
);

const insertChunk = insertOf('blob_chunks', ['space_id', 'blob_id', 'place', 'body']);

const chunk = statement<ById & { place: number }>()((db, p) =>
  db
    .selectFrom('blob_chunks')
    .select('body')
    .where('space_id', '=', p.space)
    .where('blob_id', '=', p.id)
    .where('place', '=', p.place),
);

const removal = (['blob_chunks', 'blobs'] as const).map((table) =>
  statement<ById>()((db, p) =>
    db.deleteFrom(table).where('space_id', '=', p.space).where('blob_id', '=', p.id),
  ),
);

const USE = ['space_id', 'task_seq', 'blob_id'] as const;
const use = insertOf('blob_uses', USE, USE);

const isUsed = statement<{ space: string; task: number; id: string }>()((db, p) =>
  db
    .selectFrom('blob_uses')
    .select('blob_id')
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.task)
    .where('blob_id', '=', p.id),
);

const unused = statement<{ space: string; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('blobs')
    .select('blobs.blob_id')
    .where('blobs.space_id', '=', p.space)
    .where('blobs.created_at', '<', p.before)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('blob_uses')
            .select('blob_uses.blob_id')
            .whereRef('blob_uses.space_id', '=', 'blobs.space_id')
            .whereRef('blob_uses.blob_id', '=', 'blobs.blob_id'),
        ),
      ),
    )
    .limit(p.limit),
);

export function blobRows(session: Session, space: string): BlobRows {
  return {
    insert: async (blob) =>
      void (await session.run(insert, {
        space_id: space,
        blob_id: blob.id,
        agent_id: blob.agent,
        digest: blob.digest,
        size: blob.size,
        chunks: blob.chunks,
        created_at: blob.createdAt,
        is_unnamed: blob.isUnnamed ? 1 : 0,
      })),
    get: async (id) => toOne(await session.one(byId, { space, id })),
    byDigest: async (digest) => toOne(await session.one(byDigest, { space, digest })),
    finish: async (id, done) => void (await session.run(finish, { space, id, ...done })),
    renew: async (id, at) => void (await session.run(renew, { space, id, at })),
    grow: async (id, size) => void (await session.run(grow, { space, id, size })),
    insertChunk: async (id, place, body) =>
      void (await session.run(insertChunk, { space_id: space, blob_id: id, place, body })),
    chunk: async (id, place) => (await session.one(chunk, { space, id, place }))?.body ?? null,
    remove: async (id) => {
      for (const part of removal) await session.run(part, { space, id });
    },
    unnamed: async (agent, since) => {
      const found = await session.one(unnamed, { space, agent, since });
      return { count: found?.n ?? 0, bytes: found?.bytes ?? 0 };
    },
    use: async (task, id) => {
      await session.run(use, { space_id: space, task_seq: task, blob_id: id });
      await session.run(name, { space, id });
    },
    isUsed: async (task, id) => (await session.one(isUsed, { space, task, id })) !== undefined,
    unused: async (before, limit) =>
      (await session.all(unused, { space, before, limit })).map((row) => row.blob_id),
  };
}

function toOne(row: Tables['blobs'] | undefined): Blob | null {
  if (row === undefined) return null;
  return {
    id: row.blob_id,
    agent: row.agent_id,
    digest: row.digest,
    size: row.size,
    chunks: row.chunks,
    createdAt: row.created_at,
    isUnnamed: row.is_unnamed === 1,
  };
}
