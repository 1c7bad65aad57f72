import type { TaskQuery } from '../../../core/tasks/store.ts';
import { TASK_STATES } from '../../../core/tasks/task.ts';
import { type Session, type Statement, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const FILTERS = ['agent', 'caller', 'context', 'state', 'changedAfter', 'before'] as const;

type Params = {
  space: string;
  agent: string;
  caller: string;
  context: string;
  state: string;
  changedAfter: number;
  at: number;
  seq: number;
  limit: number;
};
type Builder = Parameters<Parameters<ReturnType<typeof statement<Params>>>[0]>[0];

function filtered(db: Builder, p: Params, given: ReadonlySet<string>) {
  let query = db.selectFrom('tasks').where('space_id', '=', p.space).where('is_direct', '=', 0);
  if (given.has('agent')) query = query.where('agent_id', '=', p.agent);
  if (given.has('caller')) query = query.where('caller', '=', p.caller);
  if (given.has('context')) query = query.where('context_id', '=', p.context);
  if (given.has('state')) query = query.where('state', '=', p.state);
  if (given.has('changedAfter')) query = query.where('changed_at', '>=', p.changedAfter);
  if (!given.has('before')) return query;
  return query
    .where('changed_at', '<=', p.at)
    .where((eb) => eb.or([eb('changed_at', '<', p.at), eb('seq', '<', p.seq)]));
}

// One statement for each combination of filters that was ever used, so that each is compiled once.
const listing = new Map<string, Statement<Params, Tables['tasks']>>();
const counting = new Map<string, Statement<Params, { n: number }>>();

function remembered<S>(known: Map<string, S>, given: ReadonlySet<string>, make: () => S): S {
  const name = [...given].join(' ');
  let found = known.get(name);
  if (found === undefined) {
    found = make();
    known.set(name, found);
  }
  return found;
}

/**
 * In both indexes the state comes before the time, so that a rare state is found without passing all others; without
 * a state, the lists of all states are merged. A context has few tasks and needs none of this.
 */
function eachState<Q extends Pick<TaskQuery, 'state' | 'context'>>(query: Q): Q[] {
  if (query.state !== undefined || query.context !== undefined) return [query];
  return TASK_STATES.map((state) => ({ ...query, state }));
}

export async function listTasks(
  session: Session,
  space: string,
  query: TaskQuery,
): Promise<Tables['tasks'][]> {
  const lists = await Promise.all(eachState(query).map((one) => listOf(session, space, one)));
  if (lists.length === 1) return lists.flat();
  return lists
    .flat()
    .sort((a, b) => b.changed_at - a.changed_at || b.seq - a.seq)
    .slice(0, query.limit);
}

function listOf(session: Session, space: string, query: TaskQuery): Promise<Tables['tasks'][]> {
  const given = filtersOf(query);
  const list = remembered(listing, given, () =>
    statement<Params>()((db, p) =>
      filtered(db, p, given).selectAll().orderBy('changed_at', 'desc').orderBy('seq', 'desc').limit(p.limit),
    ),
  );
  return session.all(list, toParams(space, query));
}

/** Stops at `most`, so that no count costs more than its answer is worth. */
export async function countTasks(
  session: Session,
  space: string,
  query: Omit<TaskQuery, 'before' | 'limit'>,
  most: number,
): Promise<number> {
  const counts = await Promise.all(eachState(query).map((one) => countOf(session, space, one, most)));
  return Math.min(
    most,
    counts.reduce((sum, n) => sum + n, 0),
  );
}

async function countOf(
  session: Session,
  space: string,
  query: Omit<TaskQuery, 'before' | 'limit'>,
  most: number,
): Promise<number> {
  const given = filtersOf({ ...query, limit: most });
  const count = remembered(counting, given, () =>
    statement<Params>()((db, p) =>
      db
        .selectFrom(filtered(db, p, given).select('seq').limit(p.limit).as('found'))
        .select((eb) => eb.fn.countAll<number>().as('n')),
    ),
  );
  const row = await session.one(count, toParams(space, { ...query, limit: most }));
  return Number(row?.n ?? 0);
}

function filtersOf(query: TaskQuery): ReadonlySet<string> {
  return new Set(FILTERS.filter((name) => query[name] !== undefined));
}

function toParams(space: string, query: TaskQuery): Params {
  return {
    space,
    agent: query.agent ?? '',
    caller: query.caller ?? '',
    context: query.context ?? '',
    state: query.state ?? '',
    changedAfter: query.changedAfter ?? 0,
    at: query.before?.changedAt ?? 0,
    seq: query.before?.seq ?? 0,
    limit: query.limit,
  };
}
