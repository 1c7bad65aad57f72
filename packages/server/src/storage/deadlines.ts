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

const bringFirstAttempts = statement<Moved>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ due_at: p.to })
    .where('space_id', '=', p.space)
    .where('state', '=', 'due')
    .where('due_at', '>', p.after)
    .where('attempts', '=', 0),
);

const shortenLinks = statement<Moved>()((db, p) =>
  db.updateTable('links').set({ until: p.to }).where('space_id', '=', p.space).where('until', '>', p.after),
);

export function deadlineRows(session: Session, space: string): DeadlineRows {
  return {
    bringHeld: (after, now) => session.run(bringHeld, { space, after, to: now }),
    endLeases: (after) => session.run(endLeases, { space, after }),
    bringFirstAttempts: (now) => session.run(bringFirstAttempts, { space, after: now, to: now }),
    shortenLinks: (until) => session.run(shortenLinks, { space, after: until, to: until }),
  };
}
