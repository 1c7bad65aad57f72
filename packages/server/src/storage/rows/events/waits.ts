import type { ResumePolicy } from '../../../core/events/event.ts';
import type { InboxSettings, WaitRows } from '../../../core/events/store.ts';
import type { Resume, Wait } from '../../../core/events/waits/wait.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('waits', [
  'space_id',
  'wait_id',
  'agent_id',
  'open',
  'subject',
  'event_types',
  'interrupt_id',
  'run_state_ref',
  'policy',
  'expires_at',
  'created_at',
]);

// Without the time, so that the query is the same each time and is sent once per batch.
const open = statement<{ space: string; agent: string; limit: number }>()((db, p) =>
  db
    .selectFrom('waits')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('open', '=', 1)
    .orderBy('created_at')
    .limit(p.limit),
);

const expired = statement<{ space: string; agent: string; now: number }>()((db, p) =>
  db
    .selectFrom('waits')
    .select('wait_id')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('open', '=', 1)
    .where('expires_at', '<=', p.now)
    .limit(1),
);

const closeExpired = statement<{ space: string; agent: string; now: number }>()((db, p) =>
  db
    .updateTable('waits')
    .set({ open: 0 })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('open', '=', 1)
    .where('expires_at', '<=', p.now),
);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('waits').selectAll().where('space_id', '=', p.space).where('wait_id', '=', p.id),
);

const end = statement<{ space: string; id: string }>()((db, p) =>
  db
    .updateTable('waits')
    .set({ open: 0 })
    .where('space_id', '=', p.space)
    .where('wait_id', '=', p.id)
    .where('open', '=', 1),
);

const insertResume = insertOf('resumes', [
  'space_id',
  'agent_id',
  'place',
  'resume_id',
  'event_id',
  'wait_id',
  'run_state_ref',
  'reason',
  'out_of_order',
  'at',
  'entry_place',
]);

const resumes = statement<{ space: string; agent: string; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('resumes')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('place', '>', p.after)
    .orderBy('place')
    .limit(p.limit),
);

const firstResume = statement<{ space: string; agent: string; from: number }>()((db, p) =>
  db
    .selectFrom('resumes')
    .select('place')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('entry_place', '>=', p.from)
    .orderBy('entry_place')
    .orderBy('place')
    .limit(1),
);

const resumesOf = statement<{ space: string; agent: string; event: string; limit: number }>()((db, p) =>
  db
    .selectFrom('resumes')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('event_id', '=', p.event)
    .limit(p.limit),
);

const removeResumes = statement<{ space: string; agent: string; entry: number }>()((db, p) =>
  db
    .deleteFrom('resumes')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('entry_place', '<=', p.entry),
);

const settings = statement<{ space: string; agent: string }>()((db, p) =>
  db.selectFrom('inboxes').selectAll().where('space_id', '=', p.space).where('agent_id', '=', p.agent),
);

const setSettings = statement<{ space: string; agent: string; policy: string; reviews: number }>()((db, p) =>
  db
    .insertInto('inboxes')
    .values({ space_id: p.space, agent_id: p.agent, max_resume_policy: p.policy, show_reviews: p.reviews })
    .onConflict((oc) =>
      oc
        .columns(['space_id', 'agent_id'])
        .doUpdateSet({ max_resume_policy: p.policy, show_reviews: p.reviews }),
    ),
);

/** How an inbox behaves until somebody says otherwise. */
const DEFAULTS: InboxSettings = { maxResumePolicy: 'resume_immediately', showReviews: true };

export function waitRows(session: Session, space: string): WaitRows {
  return {
    insert: async (w) => void (await session.run(insert, fromWait(w))),
    open: async (agent, now, limit) =>
      (await session.all(open, { space, agent, limit }))
        .filter((row) => row.expires_at === null || row.expires_at > now)
        .map(toWait),
    hasExpired: async (agent, now) => (await session.one(expired, { space, agent, now })) !== undefined,
    closeExpired: (agent, now) => session.run(closeExpired, { space, agent, now }),
    get: async (id) => {
      const row = await session.one(byId, { space, id });
      return row === undefined ? null : toWait(row);
    },
    end: async (id) => (await session.run(end, { space, id })) === 1,
    insertResume: async (r) => void (await session.run(insertResume, fromResume(r))),
    resumes: async (agent, after, limit) =>
      (await session.all(resumes, { space, agent, after, limit })).map(toResume),
    firstResumeFrom: async (agent, from) =>
      (await session.one(firstResume, { space, agent, from }))?.place ?? null,
    resumesOf: async (agent, event, limit) =>
      (await session.all(resumesOf, { space, agent, event, limit })).map(toResume),
    removeResumesUpTo: (agent, entry) => session.run(removeResumes, { space, agent, entry }),
    settings: async (agent) => {
      const row = await session.one(settings, { space, agent });
      if (row === undefined) return DEFAULTS;
      return { maxResumePolicy: row.max_resume_policy as ResumePolicy, showReviews: row.show_reviews === 1 };
    },
    setSettings: async (agent, s) =>
      void (await session.run(setSettings, {
        space,
        agent,
        policy: s.maxResumePolicy,
        reviews: s.showReviews ? 1 : 0,
      })),
  };
}

function toWait(row: Tables['waits']): Wait {
  return {
    space: row.space_id,
    id: row.wait_id,
    agent: row.agent_id,
    subject: JSON.parse(row.subject),
    eventTypes: row.event_types === null ? null : JSON.parse(row.event_types),
    interruptId: row.interrupt_id,
    runStateRef: row.run_state_ref,
    policy: row.policy as ResumePolicy | null,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  };
}

function fromWait(w: Wait): Tables['waits'] {
  return {
    space_id: w.space,
    wait_id: w.id,
    agent_id: w.agent,
    open: 1,
    subject: JSON.stringify(w.subject),
    event_types: w.eventTypes === null ? null : JSON.stringify(w.eventTypes),
    interrupt_id: w.interruptId,
    run_state_ref: w.runStateRef,
    policy: w.policy,
    expires_at: w.expiresAt,
    created_at: w.createdAt,
  };
}

function toResume(row: Tables['resumes']): Resume {
  return {
    space: row.space_id,
    agent: row.agent_id,
    offset: row.place,
    id: row.resume_id,
    eventId: row.event_id,
    waitId: row.wait_id,
    runStateRef: row.run_state_ref,
    reason: row.reason,
    outOfOrder: row.out_of_order === 1,
    at: row.at,
    entryOffset: row.entry_place,
  };
}

function fromResume(r: Resume): Tables['resumes'] {
  return {
    space_id: r.space,
    agent_id: r.agent,
    place: r.offset,
    resume_id: r.id,
    event_id: r.eventId,
    wait_id: r.waitId,
    run_state_ref: r.runStateRef,
    reason: r.reason,
    out_of_order: r.outOfOrder ? 1 : 0,
    at: r.at,
    entry_place: r.entryOffset,
  };
}
