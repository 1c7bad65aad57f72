import type { DeadlineRows } from '../core/set-back.ts';
import { type Session, statement } from './statement.ts';

type Moved = { space: string; after: number; to: number };

const bringHeld = statement<Moved>()((db, p) =>
  db
    .updateTable('deliveries')
    .set({ effect_at: p.to })
    .where('space_id', '=', p.space)
    .where('effect_at', 'is not', null)
    .where('effect_at', '>', p.after)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('decisions')
          .select('decisions.seq')
          .whereRef('decisions.space_id', '=', 'deliveries.space_id')
          .whereRef('decisions.delivery_id', '=', 'deliveries.delivery_id')
          .where('decisions.state', '=', 'held')
          .where('decisions.decided_at', '>', p.after),
      ),
    ),
);

const endLeases = statement<Omit<Moved, 'to'>>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ leased_until: null })
    .where('space_id', '=', p.space)
    .where('state', '=', 'due')
    .where('leased_until', '>', p.after),
);

const bringAttempts = statement<{ space: string; now: number; after: number }>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ due_at: p.now })
    .where('space_id', '=', p.space)
    .where('state', '=', 'due')
    .where('due_at', '>', p.now)
    .where((eb) => eb.or([eb('attempts', '=', 0), eb('due_at', '>', p.after)])),
);

const digestsAfter = statement<{ space: string; after: number }>()((db, p) =>
  db
    .selectFrom('preferences')
    .select('person_id')
    .where('space_id', '=', p.space)
    .where('digest_at', '>', p.after)
    .orderBy('person_id'),
);

const shortenLinks = statement<Moved>()((db, p) =>
  db.updateTable('links').set({ until: p.to }).where('space_id', '=', p.space).where('until', '>', p.after),
);

export function deadlineRows(session: Session, space: string): DeadlineRows {
  return {
    bringHeld: (after, now) => session.run(bringHeld, { space, after, to: now }),
    endLeases: (after) => session.run(endLeases, { space, after }),
    bringAttempts: (now, after) => session.run(bringAttempts, { space, now, after }),
    digestsAfter: async (after) =>
      (await session.all(digestsAfter, { space, after })).map((row) => row.person_id),
    shortenLinks: (until) => session.run(shortenLinks, { space, after: until, to: until }),
  };
}
