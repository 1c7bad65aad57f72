import type { Frame, FrameRows, Link, LinkRows } from '../../../core/tasks/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

type OfAgent = { space: string; agent: string };

const insert = insertOf('frames', [
  'space_id',
  'agent_id',
  'place',
  'type',
  'task_seq',
  'task_id',
  'pos',
  'link_id',
  'at',
  'body',
]);

const forLink = statement<OfAgent & { link: string; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('frames')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('place', '>', p.after)
    .where('link_id', '=', p.link)
    .orderBy('place')
    .limit(p.limit),
);

const acknowledge = statement<OfAgent & { place: number }>()((db, p) =>
  db
    .deleteFrom('frames')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('place', '=', p.place),
);

const adoptFrames = statement<OfAgent & { from: string; to: string | null }>()((db, p) =>
  db
    .updateTable('frames')
    .set({ link_id: p.to })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('link_id', '=', p.from),
);

const adoptUnsent = statement<OfAgent & { to: string | null }>()((db, p) =>
  db
    .updateTable('frames')
    .set({ link_id: p.to })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('link_id', 'is', null),
);

const adoptTasks = statement<OfAgent & { from: string; to: string | null }>()((db, p) =>
  db
    .updateTable('tasks')
    .set({ link_id: p.to })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('link_id', '=', p.from),
);

const removeUnsent = statement<OfAgent & { task: number }>()((db, p) =>
  db
    .deleteFrom('frames')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('task_seq', '=', p.task)
    .where('link_id', 'is', null),
);

const waiting = statement<OfAgent & { limit: number }>()((db, p) =>
  db
    .selectFrom(
      db
        .selectFrom('frames')
        .select('place')
        .where('space_id', '=', p.space)
        .where('agent_id', '=', p.agent)
        .limit(p.limit)
        .as('found'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
);

export function frameRows(session: Session, space: string): FrameRows {
  return {
    insert: async (agent, frame) => void (await session.run(insert, fromFrame(space, agent, frame))),
    forLink: async (agent, link, after, limit) =>
      (await session.all(forLink, { space, agent, link, after, limit })).map(toFrame),
    acknowledge: async (agent, place) => (await session.run(acknowledge, { space, agent, place })) === 1,
    adopt: async (agent, from, to) => {
      if (from === null) return session.run(adoptUnsent, { space, agent, to });
      await session.run(adoptTasks, { space, agent, from, to });
      return session.run(adoptFrames, { space, agent, from, to });
    },
    removeUnsent: (agent, task) => session.run(removeUnsent, { space, agent, task }),
    waiting: async (agent, limit) => Number((await session.one(waiting, { space, agent, limit }))?.n ?? 0),
  };
}

function toFrame(row: Tables['frames']): Frame {
  return {
    place: row.place,
    type: row.type as Frame['type'],
    task: { seq: row.task_seq, id: row.task_id },
    pos: row.pos,
    link: row.link_id,
    at: row.at,
    body: row.body,
  };
}

function fromFrame(space: string, agent: string, frame: Frame): Tables['frames'] {
  return {
    space_id: space,
    agent_id: agent,
    place: frame.place,
    type: frame.type,
    task_seq: frame.task.seq,
    task_id: frame.task.id,
    pos: frame.pos,
    link_id: frame.link,
    at: frame.at,
    body: frame.body,
  };
}

const insertLink = insertOf('links', ['space_id', 'agent_id', 'link_id', 'since', 'until']);

const linksOf = statement<OfAgent>()((db, p) =>
  db
    .selectFrom('links')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .orderBy('link_id')
    .limit(1000),
);

const renew = statement<OfAgent & { id: string; now: number; until: number }>()((db, p) =>
  db
    .updateTable('links')
    .set({ until: p.until })
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('link_id', '=', p.id)
    .where('until', '>', p.now),
);

const remove = statement<OfAgent & { id: string }>()((db, p) =>
  db
    .deleteFrom('links')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('link_id', '=', p.id),
);

const live = statement<{ space: string; now: number }>()((db, p) =>
  db
    .selectFrom('links')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('until', '>', p.now)
    .limit(100_000),
);

export function linkRows(session: Session, space: string): LinkRows {
  return {
    insert: async (link) =>
      void (await session.run(insertLink, {
        space_id: space,
        agent_id: link.agent,
        link_id: link.id,
        since: link.since,
        until: link.until,
      })),
    of: async (agent) => (await session.all(linksOf, { space, agent })).map(toLink),
    renew: async (agent, id, { now, until }) =>
      (await session.run(renew, { space, agent, id, now, until })) === 1,
    remove: async (agent, id) => (await session.run(remove, { space, agent, id })) === 1,
    live: async (now) => (await session.all(live, { space, now })).map(toLink),
  };
}

function toLink(row: Tables['links']): Link {
  return { agent: row.agent_id, id: row.link_id, since: row.since, until: row.until };
}
