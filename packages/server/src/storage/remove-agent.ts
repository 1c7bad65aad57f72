import { type Session, statement } from './statement.ts';

type OfAgent = { space: string; agent: string };

// Their keys are the delivery's, so they go while it is still there to be found by.
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

const drafts = statement<OfAgent>()((db, p) =>
  db
    .deleteFrom('drafts')
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

// An event that only this agent was sent leaves with it.
const events = statement<OfAgent>()((db, p) =>
  db
    .deleteFrom('events')
    .where('space_id', '=', p.space)
    .where(
      'seq',
      'in',
      db
        .selectFrom('entries')
        .select('event_seq')
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent),
    )
    .where(
      'seq',
      'not in',
      db
        .selectFrom('entries as others')
        .innerJoin('entries as own', (join) =>
          join.onRef('own.space_id', '=', 'others.space_id').onRef('own.event_seq', '=', 'others.event_seq'),
        )
        .select('others.event_seq')
        .where('own.space_id', '=', p.space)
        .where('own.agent_id', '=', p.agent)
        .where('others.agent_id', '!=', p.agent),
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
    'keys',
    'agents',
  ] as const
).map((table) =>
  statement<OfAgent>()((db, p) =>
    db.deleteFrom(table).where('space_id', '=', p.space).where('agent_id', '=', p.agent),
  ),
);

/** An agent and all that is its own. The ledger keeps its lines. */
export async function removeAgent(session: Session, space: string, agent: string): Promise<void> {
  for (const one of [words, drafts, attempts, events, ...rest]) await session.run(one, { space, agent });
}
