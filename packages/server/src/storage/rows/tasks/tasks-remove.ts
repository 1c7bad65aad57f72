import { type Session, statement } from '../../statement.ts';
import { noJobDue } from '../sending/due-jobs.ts';

const ENDED = ['completed', 'failed', 'canceled', 'rejected'];
/** Each is one range of an index: tasks that have not ended are never read, however old they are. */
const STRETCHES = [0, 1].flatMap((direct) => ENDED.map((state) => ({ direct, state })));

/** Except those that a caller is still to be told about. */
const ended = statement<{ space: string; direct: number; state: string; before: number; limit: number }>()(
  (db, p) =>
    db
      .selectFrom('tasks')
      .select('seq')
      .where('space_id', '=', p.space)
      .where('is_direct', '=', p.direct)
      .where('state', '=', p.state)
      .where('changed_at', '<', p.before)
      .where(noJobDue('tasks.space_id', 'tasks.task_id'))
      .orderBy('changed_at')
      .limit(p.limit),
);

const parts = (['task_log', 'pushes', 'blob_uses', 'frames'] as const).map((table) =>
  statement<{ space: string; seq: number }>()((db, p) =>
    db.deleteFrom(table).where('space_id', '=', p.space).where('task_seq', '=', p.seq),
  ),
);

const task = statement<{ space: string; seq: number }>()((db, p) =>
  db.deleteFrom('tasks').where('space_id', '=', p.space).where('seq', '=', p.seq),
);

export async function removeEnded(
  session: Session,
  space: string,
  before: number,
  limit: number,
): Promise<number> {
  let removed = 0;
  for (const stretch of STRETCHES) {
    if (removed === limit) break;
    const found = await session.all(ended, { space, ...stretch, before, limit: limit - removed });
    for (const { seq } of found) {
      for (const part of [...parts, task]) await session.run(part, { space, seq });
    }
    removed += found.length;
  }
  return removed;
}
