import { orNull } from '../../../core/faults.ts';
import type { Attempt, Job, JobKind, JobState } from '../../../core/sending/job.ts';
import type { JobRows, Request } from '../../../core/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Sealer } from '../agents/agents.ts';

/** All but the sealed request. */
export const JOB_COLUMNS = [
  'space_id',
  'job_id',
  'kind',
  'agent_id',
  'delivery_id',
  'origin',
  'state',
  'due_at',
  'attempts',
  'fence',
  'leased_until',
  'created_at',
] as const;

type Row = Pick<Tables['jobs'], (typeof JOB_COLUMNS)[number]>;
type ById = { space: string; id: string };

const insert = insertOf('jobs', [...JOB_COLUMNS, 'request']);

const byId = statement<ById>()((db, p) =>
  db.selectFrom('jobs').select(JOB_COLUMNS).where('space_id', '=', p.space).where('job_id', '=', p.id),
);

const requestById = statement<ById>()((db, p) =>
  db.selectFrom('jobs').select('request').where('space_id', '=', p.space).where('job_id', '=', p.id),
);

const byDelivery = statement<{ space: string; delivery: string }>()((db, p) =>
  db
    .selectFrom('jobs')
    .select(JOB_COLUMNS)
    .where('space_id', '=', p.space)
    .where('delivery_id', '=', p.delivery),
);

/** The fence makes it a compare-and-set: of two workers that saw the same row, only one wins. */
const lease = statement<ById & { expected: number; fence: number; now: number; until: number }>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ fence: p.fence, leased_until: p.until })
    .where('space_id', '=', p.space)
    .where('job_id', '=', p.id)
    .where('fence', '=', p.expected)
    .where('state', '=', 'due')
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', p.now)])),
);

const settle = statement<ById & { fence: number; state: string; dueAt: number; attempts: number }>()(
  (db, p) =>
    db
      .updateTable('jobs')
      .set({ state: p.state, due_at: p.dueAt, attempts: p.attempts, leased_until: null })
      .where('space_id', '=', p.space)
      .where('job_id', '=', p.id)
      .where('fence', '=', p.fence),
);

const release = statement<ById & { fence: number }>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ leased_until: null })
    .where('space_id', '=', p.space)
    .where('job_id', '=', p.id)
    .where('fence', '=', p.fence),
);

const renew = statement<ById & { fence: number; until: number }>()((db, p) =>
  db
    .updateTable('jobs')
    .set({ leased_until: p.until })
    .where('space_id', '=', p.space)
    .where('job_id', '=', p.id)
    .where('fence', '=', p.fence)
    .where('leased_until', 'is not', null),
);

/**
 * The fence moves on, so that the late result of a worker that still holds a lease decides nothing. Its attempt keeps
 * its number.
 */
const requeue = statement<ById & { at: number }>()((db, p) =>
  db
    .updateTable('jobs')
    .set((eb) => ({
      state: 'due',
      due_at: p.at,
      leased_until: null,
      fence: eb('fence', '+', 1),
      attempts: eb
        .case()
        .when('leased_until', '>', p.at)
        .then(eb('attempts', '+', 1))
        .else(eb.ref('attempts'))
        .end(),
    }))
    .where('space_id', '=', p.space)
    .where('job_id', '=', p.id),
);

const insertAttempt = insertOf('attempts', [
  'space_id',
  'job_id',
  'delivery_id',
  'number',
  'at',
  'duration_ms',
  'outcome',
  'status',
]);

/** Found by way of the jobs: an index over random delivery ids would cost every attempt a page. */
const attemptsOf = statement<{ space: string; delivery: string }>()((db, p) =>
  db
    .selectFrom('attempts')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where('space_id', '=', p.space)
        .where('delivery_id', '=', p.delivery),
    )
    .orderBy('at')
    .orderBy('number'),
);

const TEXT = new TextDecoder();

export function jobRows(session: Session, space: string, sealer: Sealer): JobRows {
  const identity = (id: string) => `job:${space}:${id}`;
  const open = (id: string, { request }: Pick<Tables['jobs'], 'request'>) =>
    JSON.parse(TEXT.decode(sealer.open(request, identity(id)))) as Request;
  return {
    insert: async (job, request) => {
      const sealed = sealer.seal(JSON.stringify(request), identity(job.id));
      await session.run(insert, { ...fromJob(job), space_id: space, request: sealed });
    },
    get: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined ? null : toJob(row);
    },
    requests: async (ids) => {
      const rows = await Promise.all(ids.map((id) => session.one(requestById, { space, id })));
      return ids.map((id, i) => orNull(() => (rows[i] === undefined ? null : open(id, rows[i]))));
    },
    byDelivery: async (delivery) => (await session.all(byDelivery, { space, delivery })).map(toJob),
    lease: (page, now, until) =>
      those(inOrder(page), ({ id, fence }) =>
        session.run(lease, { space, id, expected: fence, fence: fence + 1, now, until }),
      ),
    settle: (page) => those(inOrder(page), (one) => session.run(settle, { space, ...one })),
    release: async (id, fence) => (await session.run(release, { space, id, fence })) === 1,
    renew: async (id, fence, until) => (await session.run(renew, { space, id, fence, until })) === 1,
    requeue: async (id, at) => (await session.run(requeue, { space, id, at })) === 1,
    insertAttempt: async (a) =>
      void (await session.run(insertAttempt, { ...fromAttempt(a), space_id: space })),
    attempts: async (delivery) => (await session.all(attemptsOf, { space, delivery })).map(toAttempt),
  };
}

/**
 * Those that a statement has changed. All are sent before the first is answered: over a network a page is one round
 * trip, and on SQLite a single statement for all would take twice as long.
 */
async function those<T extends { id: string }>(
  page: readonly T[],
  change: (one: T) => Promise<number>,
): Promise<ReadonlySet<string>> {
  const changed = await Promise.all(page.map(change));
  return new Set(page.filter((_, i) => changed[i] === 1).map(({ id }) => id));
}

/** Always in the same order, so that two workers on the same jobs cannot deadlock. */
function inOrder<T extends { id: string }>(page: readonly T[]): T[] {
  return [...page].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function toJob(row: Row): Job {
  return {
    space: row.space_id,
    id: row.job_id,
    kind: row.kind as JobKind,
    agent: row.agent_id,
    delivery: row.delivery_id,
    origin: row.origin,
    state: row.state as JobState,
    dueAt: row.due_at,
    attempts: row.attempts,
    fence: row.fence,
    leasedUntil: row.leased_until,
    createdAt: row.created_at,
  };
}

function fromJob(job: Job): Row {
  return {
    space_id: job.space,
    job_id: job.id,
    kind: job.kind,
    agent_id: job.agent,
    delivery_id: job.delivery,
    origin: job.origin,
    state: job.state,
    due_at: job.dueAt,
    attempts: job.attempts,
    fence: job.fence,
    leased_until: job.leasedUntil,
    created_at: job.createdAt,
  };
}

function toAttempt(row: Tables['attempts']): Attempt {
  return {
    space: row.space_id,
    job: row.job_id,
    delivery: row.delivery_id,
    number: row.number,
    at: row.at,
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
  };
}

function fromAttempt(a: Attempt): Tables['attempts'] {
  return {
    space_id: a.space,
    job_id: a.job,
    delivery_id: a.delivery,
    number: a.number,
    at: a.at,
    duration_ms: a.durationMs,
    outcome: a.outcome,
    status: a.status,
  };
}
