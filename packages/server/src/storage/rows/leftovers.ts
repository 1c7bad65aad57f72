import type { QueryCreator } from 'kysely';
import type { LeftoverRows } from '../../core/leftovers.ts';
import { type Session, statement } from '../statement.ts';
import type { Tables } from '../tables.ts';

/** These are about no delivery, so they are not removed with one. */
const KINDS = ['digest', 'forward', 'push'] as const;

type EndedJobs = { space: string; kind: string; before: number; limit: number };

/** When a job has ended, `due_at` holds the time of its end. */
const endedJobs = (db: QueryCreator<Tables>, p: EndedJobs) =>
  db
    .selectFrom('jobs')
    .select('job_id')
    .where('space_id', '=', p.space)
    .where('kind', '=', p.kind)
    .where('state', '!=', 'due')
    .where('due_at', '<', p.before)
    .orderBy('due_at')
    .limit(p.limit);

const removeAttempts = statement<EndedJobs>()((db, p) =>
  db.deleteFrom('attempts').where('space_id', '=', p.space).where('job_id', 'in', endedJobs(db, p)),
);

const removeJobs = statement<EndedJobs>()((db, p) =>
  db.deleteFrom('jobs').where('space_id', '=', p.space).where('job_id', 'in', endedJobs(db, p)),
);

const removeWaits = statement<{ space: string; before: number; limit: number }>()((db, p) =>
  db
    .deleteFrom('waits')
    .where('space_id', '=', p.space)
    .where(
      'wait_id',
      'in',
      db
        .selectFrom('waits')
        .select('wait_id')
        .where('space_id', '=', p.space)
        .where('open', '=', 0)
        .where('created_at', '<', p.before)
        .orderBy('created_at')
        .limit(p.limit),
    ),
);

/** Also those that were only there to be locked: their time is 0, so they are as old as can be. */
const heads = statement<{ space: string; after: string; limit: number }>()((db, p) =>
  db
    .selectFrom('heads')
    .select(['name', 'at'])
    .where('space_id', '=', p.space)
    .where('name', '>', p.after)
    .orderBy('name')
    .limit(p.limit),
);

const removeHead = statement<{ space: string; name: string; at: number }>()((db, p) =>
  db.deleteFrom('heads').where('space_id', '=', p.space).where('name', '=', p.name).where('at', '=', p.at),
);

export function leftoverRows(session: Session, space: string): LeftoverRows {
  return {
    removeEndedJobs: async (before, limit) => {
      let removed = 0;
      for (const kind of KINDS) {
        const ended = { space, kind, before, limit };
        await session.run(removeAttempts, ended); // first, because they are found by their job
        removed += await session.run(removeJobs, ended);
      }
      return removed;
    },
    removeEndedWaits: (before, limit) => session.run(removeWaits, { space, before, limit }),
    heads: (after, limit) => session.all(heads, { space, after, limit }),
    removeHead: async (name, at) => (await session.run(removeHead, { space, name, at })) === 1,
  };
}
