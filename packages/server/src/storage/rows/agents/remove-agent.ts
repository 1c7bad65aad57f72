import type { QueryCreator } from 'kysely';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Bodies } from '../events/bodies.ts';
import { isLocated } from '../events/events.ts';

type OfAgent = { space: string; agent: string };

// Found by their delivery, so they are removed while it still exists.
const words = statement<OfAgent>()((db, p) =>
  db
    .deleteFrom('words')
    .where('space_id', '=', p.space)
    .where(
      'seq',
      'in',
      db
        .selectFrom('deliveries')
        .select('seq')
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent),
    ),
);

const ofDeliveries = (['drafts', 'other_ids'] as const).map((table) =>
  statement<OfAgent>()((db, p) =>
    db
      .deleteFrom(table)
      .where('space_id', '=', p.space)
      .where(
        'delivery_id',
        'in',
        db
          .selectFrom('deliveries')
          .select('delivery_id')
          .where('space_id', '=', p.space)
          .where('agent_id', '=', p.agent),
      ),
  ),
);

const attempts = statement<OfAgent>()((db, p) =>
  db
    .deleteFrom('attempts')
    .where('space_id', '=', p.space)
    .where(
      'job_id',
      'in',
      db.selectFrom('jobs').select('job_id').where('space_id', '=', p.space).where('agent_id', '=', p.agent),
    ),
);

// An event that was sent only to this agent is removed with it.
const onlyIts = (db: QueryCreator<Tables>, p: OfAgent) =>
  db
    .selectFrom('entries as own')
    .innerJoin('events', (join) =>
      join.onRef('events.space_id', '=', 'own.space_id').onRef('events.seq', '=', 'own.event_seq'),
    )
    .where('own.space_id', '=', p.space)
    .where('own.agent_id', '=', p.agent)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('entries as others')
            .select('others.place')
            .whereRef('others.space_id', '=', 'own.space_id')
            .whereRef('others.event_seq', '=', 'own.event_seq')
            .where('others.agent_id', '!=', p.agent),
        ),
      ),
    );

const itsBodies = statement<OfAgent>()((db, p) =>
  onlyIts(db, p).select(['events.segment', 'events.body_at', 'events.body_size']),
);

const events = statement<OfAgent>()((db, p) =>
  db
    .deleteFrom('events')
    .where('space_id', '=', p.space)
    .where('seq', 'in', onlyIts(db, p).select('events.seq')),
);

// Blobs stay: others may use them, and unused ones are removed by age.
const ofTasks = (['task_log', 'pushes', 'blob_uses'] as const).map((table) =>
  statement<OfAgent>()((db, p) =>
    db
      .deleteFrom(table)
      .where('space_id', '=', p.space)
      .where(
        'task_seq',
        'in',
        db.selectFrom('tasks').select('seq').where('space_id', '=', p.space).where('agent_id', '=', p.agent),
      ),
  ),
);

const rest = (
  [
    'entries',
    'subscriptions',
    'waits',
    'resumes',
    'inboxes',
    'jobs',
    'decisions',
    'deliveries',
    'idempotency',
    'tasks',
    'frames',
    'links',
    'callers',
    'cards',
    'keys',
    'agents',
  ] as const
).map((table) =>
  statement<OfAgent>()((db, p) =>
    db.deleteFrom(table).where('space_id', '=', p.space).where('agent_id', '=', p.agent),
  ),
);

// A new agent of this name starts afresh. Its lines stay in the ledger, and so does the ledger's head.
const head = statement<{ space: string; name: string }>()((db, p) =>
  db.deleteFrom('heads').where('space_id', '=', p.space).where('name', '=', p.name),
);
const HEADS = ['agent', 'inbox', 'resumes', 'frames'] as const;

/** Removes an agent and everything of its own. The ledger keeps its lines. */
export async function removeAgent(
  session: Session,
  space: string,
  agent: string,
  bodies: Pick<Bodies, 'blank'>,
): Promise<void> {
  const gone = (await session.all(itsBodies, { space, agent })).filter(isLocated);
  const all = [words, ...ofDeliveries, attempts, events, ...ofTasks, ...rest];
  for (const one of all) await session.run(one, { space, agent });
  await bodies.blank(space, gone);
  for (const kind of HEADS) await session.run(head, { space, name: `${kind}:${agent}` });
}
