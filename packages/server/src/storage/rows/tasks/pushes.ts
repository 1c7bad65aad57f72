import type { PushRecord, PushRows } from '../../../core/tasks/store.ts';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type ById = { space: string; task: number; id: string };

const put = statement<Tables['pushes']>()((db, p) =>
  db
    .insertInto('pushes')
    .values({
      space_id: p.space_id,
      task_seq: p.task_seq,
      push_id: p.push_id,
      dialect: p.dialect,
      sent_pos: p.sent_pos,
      job_id: p.job_id,
      created_at: p.created_at,
      body: p.body,
    })
    .onConflict((oc) =>
      oc.columns(['space_id', 'task_seq', 'push_id']).doUpdateSet({ dialect: p.dialect, body: p.body }),
    ),
);

const byId = statement<ById>()((db, p) =>
  db
    .selectFrom('pushes')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.task)
    .where('push_id', '=', p.id),
);

const ofTask = statement<{ space: string; task: number }>()((db, p) =>
  db
    .selectFrom('pushes')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.task)
    .orderBy('push_id')
    .limit(100),
);

const remove = statement<ById>()((db, p) =>
  db
    .deleteFrom('pushes')
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.task)
    .where('push_id', '=', p.id),
);

const advance = statement<ById & { sentPos: number; job: string | null }>()((db, p) =>
  db
    .updateTable('pushes')
    .set({ sent_pos: p.sentPos, job_id: p.job })
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.task)
    .where('push_id', '=', p.id),
);

export function pushRows(session: Session, space: string): PushRows {
  return {
    put: async (push) =>
      void (await session.run(put, {
        space_id: space,
        task_seq: push.task,
        push_id: push.id,
        dialect: push.dialect,
        sent_pos: push.sentPos,
        job_id: push.job,
        created_at: push.createdAt,
        body: push.body,
      })),
    get: async (task, id) => {
      const row = await session.one(byId, { space, task, id });
      return row === undefined ? null : toPush(row);
    },
    of: async (task) => (await session.all(ofTask, { space, task })).map(toPush),
    remove: async (task, id) => (await session.run(remove, { space, task, id })) === 1,
    advance: async (task, id, next) => void (await session.run(advance, { space, task, id, ...next })),
  };
}

function toPush(row: Tables['pushes']): PushRecord {
  return {
    task: row.task_seq,
    id: row.push_id,
    dialect: row.dialect,
    sentPos: row.sent_pos,
    job: row.job_id,
    createdAt: row.created_at,
    body: row.body,
  };
}
