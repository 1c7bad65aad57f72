import type { QueryCreator } from 'kysely';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import { noJobDue } from '../sending/due-jobs.ts';

type Aged = { space: string; before: number; limit: number };

/**
 * The oldest of Earlier, except those whose callback is still being tried, and those that were read long ago and are
 * being decided at this moment. Each of the statements below reads it again; only the last one changes it.
 */
const aged = (db: QueryCreator<Tables>, p: Aged) =>
  db
    .selectFrom('deliveries')
    .where('space_id', '=', p.space)
    .where('section', '=', 'earlier')
    .where('section_at', '>', p.before)
    .where('state', '!=', 'held')
    .where(noJobDue('deliveries.space_id', 'deliveries.delivery_id'))
    .orderBy('section_at', 'desc')
    .limit(p.limit);

const deleteAged = statement<Aged>()((db, p) =>
  db.deleteFrom('deliveries').where('space_id', '=', p.space).where('seq', 'in', aged(db, p).select('seq')),
);

const deleteAgedWords = statement<Aged>()((db, p) =>
  db.deleteFrom('words').where('space_id', '=', p.space).where('seq', 'in', aged(db, p).select('seq')),
);

/** Before the jobs, because attempts are found by them. */
const deleteAgedAttempts = statement<Aged>()((db, p) =>
  db
    .deleteFrom('attempts')
    .where('space_id', '=', p.space)
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('space_id', '=', p.space)
        .where('delivery_id', 'in', aged(db, p).select('delivery_id')),
    ),
);

/** Everything said about a delivery is removed with it; the ledger keeps the fact that it existed. */
const deleteAgedRest = (['drafts', 'decisions', 'jobs', 'other_ids'] as const).map((table) =>
  statement<Aged>()((db, p) =>
    db
      .deleteFrom(table)
      .where('space_id', '=', p.space)
      .where('delivery_id', 'in', aged(db, p).select('delivery_id')),
  ),
);

/** Deletes the oldest of Earlier that settled before then, at most `limit`, and returns how many. */
export async function removeAged(
  session: Session,
  space: string,
  before: number,
  limit: number,
): Promise<number> {
  const old = { space, before: -before, limit };
  await session.run(deleteAgedWords, old);
  await session.run(deleteAgedAttempts, old);
  for (const remove of deleteAgedRest) await session.run(remove, old);
  return session.run(deleteAged, old);
}
