import type { StoredEntry, TaskRows } from '../../../core/tasks/store.ts';
import type { LogKind, TaskDialect, TaskRecord, TaskState } from '../../../core/tasks/task.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import { countTasks, listTasks } from './tasks-list.ts';
import { removeEnded } from './tasks-remove.ts';

const COLUMNS = [
  'space_id',
  'seq',
  'task_id',
  'agent_id',
  'context_id',
  'caller',
  'dialect',
  'state',
  'created_at',
  'changed_at',
  'length',
  'is_direct',
  'awaited_until',
  'link_id',
  'delivery_id',
  'log_bytes',
] as const;

const insert = insertOf('tasks', COLUMNS);

const byId = statement<{ space: string; id: string }>()((db, p) =>
  db.selectFrom('tasks').selectAll().where('space_id', '=', p.space).where('task_id', '=', p.id),
);

const bySeq = statement<{ space: string; seq: number }>()((db, p) =>
  db.selectFrom('tasks').selectAll().where('space_id', '=', p.space).where('seq', '=', p.seq),
);

type Changing = Pick<
  Tables['tasks'],
  'state' | 'changed_at' | 'length' | 'is_direct' | 'awaited_until' | 'link_id' | 'delivery_id' | 'log_bytes'
>;

const update = statement<{ space_id: string; seq: number } & Changing>()((db, p) =>
  db
    .updateTable('tasks')
    .set({
      state: p.state,
      changed_at: p.changed_at,
      length: p.length,
      is_direct: p.is_direct,
      awaited_until: p.awaited_until,
      link_id: p.link_id,
      delivery_id: p.delivery_id,
      log_bytes: p.log_bytes,
    })
    .where('space_id', '=', p.space_id)
    .where('seq', '=', p.seq),
);

const newestIn = statement<{ space: string; agent: string; caller: string; context: string }>()((db, p) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('caller', '=', p.caller)
    .where('context_id', '=', p.context)
    .orderBy('seq', 'desc')
    .limit(1),
);

const inContext = statement<{ space: string; agent: string; context: string }>()((db, p) =>
  db
    .selectFrom('tasks')
    .select('seq')
    .where('space_id', '=', p.space)
    .where('agent_id', '=', p.agent)
    .where('context_id', '=', p.context)
    .limit(1),
);

const append = insertOf('task_log', [
  'space_id',
  'task_seq',
  'pos',
  'kind',
  'note',
  'at',
  'entry_key',
  'body',
]);

const byKey = statement<{ space: string; key: string }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select(['task_seq', 'pos'])
    .where('space_id', '=', p.space)
    .where('entry_key', '=', p.key)
    .where('entry_key', 'is not', null),
);

const log = statement<{ space: string; seq: number; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select(['pos', 'kind', 'note', 'at', 'body'])
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.seq)
    .where('pos', '>', p.after)
    .orderBy('pos')
    .limit(p.limit),
);

const one = statement<{ space: string; seq: number; pos: number }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select(['pos', 'kind', 'note', 'at', 'body'])
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.seq)
    .where('pos', '=', p.pos),
);

const sizes = statement<{ space: string; seq: number; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select((eb) => eb.fn<number | null>('length', ['body']).as('size'))
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.seq)
    .where('pos', '>', p.after)
    .orderBy('pos')
    .limit(p.limit),
);

const saidSizes = statement<{ space: string; seq: number; upTo: number; limit: number }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select((eb) => ['pos', eb.fn<number>('length', ['body']).as('size')])
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.seq)
    .where('pos', '<=', p.upTo)
    .where('kind', '<>', 'artifact')
    .where('body', 'is not', null)
    .orderBy('pos', 'desc')
    .limit(p.limit),
);

const said = statement<{ space: string; seq: number; from: number; to: number }>()((db, p) =>
  db
    .selectFrom('task_log')
    .select(['pos', 'kind', 'note', 'at', 'body'])
    .where('space_id', '=', p.space)
    .where('task_seq', '=', p.seq)
    .where('pos', '>=', p.from)
    .where('pos', '<=', p.to)
    .where('kind', '<>', 'artifact')
    .where('body', 'is not', null)
    .orderBy('pos'),
);

export function taskRows(session: Session, space: string): TaskRows {
  return {
    insert: async (task) => void (await session.run(insert, fromTask(task))),
    get: async (id) => toOne(await session.one(byId, { space, id })),
    bySeq: async (seq) => toOne(await session.one(bySeq, { space, seq })),
    update: async (task) => void (await session.run(update, fromTask(task))),
    newestIn: async (agent, caller, context) =>
      toOne(await session.one(newestIn, { space, agent, caller, context })),
    hasContext: async (agent, context) =>
      (await session.one(inContext, { space, agent, context })) !== undefined,
    list: async (query) => (await listTasks(session, space, query)).map(toTask),
    count: (query, most) => countTasks(session, space, query, most),
    append: async (seq, entry, key) =>
      void (await session.run(append, {
        space_id: space,
        task_seq: seq,
        pos: entry.pos,
        kind: entry.kind,
        note: entry.note,
        at: entry.at,
        entry_key: key,
        body: entry.body,
      })),
    byKey: async (key) => {
      const row = await session.one(byKey, { space, key });
      return row === undefined ? null : { seq: row.task_seq, pos: row.pos };
    },
    log: async (seq, after, limit) => (await session.all(log, { space, seq, after, limit })).map(toEntry),
    entry: async (seq, pos) => {
      const row = await session.one(one, { space, seq, pos });
      return row === undefined ? null : toEntry(row);
    },
    sizes: async (seq, after, limit) =>
      (await session.all(sizes, { space, seq, after, limit })).map(({ size }) => size ?? 0),
    saidSizes: (seq, upTo, limit) => session.all(saidSizes, { space, seq, upTo, limit }),
    said: async (seq, from, to) => (await session.all(said, { space, seq, from, to })).map(toEntry),
    deleteEndedBefore: (before, limit) => removeEnded(session, space, before, limit),
  };
}

function toEntry(row: Pick<Tables['task_log'], 'pos' | 'kind' | 'note' | 'at' | 'body'>): StoredEntry {
  return { pos: row.pos, kind: row.kind as LogKind, note: row.note, at: row.at, body: row.body };
}

function toOne(row: Tables['tasks'] | undefined): TaskRecord | null {
  return row === undefined ? null : toTask(row);
}

function toTask(row: Tables['tasks']): TaskRecord {
  return {
    space: row.space_id,
    seq: row.seq,
    id: row.task_id,
    agent: row.agent_id,
    context: row.context_id,
    caller: row.caller,
    dialect: row.dialect as TaskDialect,
    state: row.state as TaskState,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    length: row.length,
    isDirect: row.is_direct === 1,
    awaitedUntil: row.awaited_until,
    link: row.link_id,
    delivery: row.delivery_id,
    logBytes: row.log_bytes,
  };
}

function fromTask(task: TaskRecord): Tables['tasks'] {
  return {
    space_id: task.space,
    seq: task.seq,
    task_id: task.id,
    agent_id: task.agent,
    context_id: task.context,
    caller: task.caller,
    dialect: task.dialect,
    state: task.state,
    created_at: task.createdAt,
    changed_at: task.changedAt,
    length: task.length,
    is_direct: task.isDirect ? 1 : 0,
    awaited_until: task.awaitedUntil,
    link_id: task.link,
    delivery_id: task.delivery,
    log_bytes: task.logBytes,
  };
}
