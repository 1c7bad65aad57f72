import type { Run } from '../../../core/events/store.ts';
import { type Session, statement } from '../../statement.ts';
import type { Bodies, Segment } from './bodies.ts';

/**
 * What a page consists of, record by record: the driver takes longer to return a row than the database to find it.
 * The difference between inbox offset and event number shows whether both are in the same order.
 */
const grouped = statement<{ space: string; agent: string; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('entries')
        .innerJoin('events', (join) =>
          join
            .onRef('events.space_id', '=', 'entries.space_id')
            .onRef('events.seq', '=', 'entries.event_seq'),
        )
        .select(['entries.place', 'events.segment', 'events.body_at', 'events.body_size'])
        .select((inner) => [
          'events.fill_producer',
          inner('entries.place', '-', inner.ref('entries.event_seq')).as('shift'),
          inner('events.body_at', '+', inner.ref('events.body_size')).as('body_end'),
        ])
        .where('entries.space_id', '=', p.space)
        .where('entries.agent_id', '=', p.agent)
        .where('entries.place', '>', p.after)
        .orderBy('entries.place')
        .limit(p.limit)
        .as('page'),
    )
    .select((eb) => [
      'segment',
      eb.fn.countAll<number>().as('count'),
      eb.fn.min<number>('place').as('first'),
      eb.fn.max<number>('place').as('last'),
      eb.fn.min<number>('shift').as('least_shift'),
      eb.fn.max<number>('shift').as('most_shift'),
      eb.fn.min<number | null>('body_at').as('begin'),
      eb.fn.max<number | null>('body_end').as('end'),
      eb.cast<number | null>(eb.fn.sum('body_size'), 'bigint').as('size'),
      eb.fn.max<number>('fill_producer').as('fill'),
    ])
    .groupBy('segment'),
);

type Grouped = {
  segment: number | null;
  count: number;
  first: number;
  last: number;
  least_shift: number;
  most_shift: number;
  begin: number | null;
  end: number | null;
  size: number | null;
  fill: number;
};

type Page = { agent: string; after: number; limit: number };

/** A page of an inbox in as few pieces as it is stored in. */
export async function readRuns(
  session: Session,
  { space, bodies }: { space: string; bodies: Bodies },
  page: Page,
): Promise<Run[]> {
  const groups = (await session.all(grouped, { space, ...page })).sort((a, b) => a.first - b.first);
  if (!groups.every((group, i) => followsOn(group, groups[i - 1]))) return [oneByOne(groups)];
  // All are requested before the first has arrived: over a network they are one round trip.
  return Promise.all(groups.map((group) => toRun(group, (segment) => bodies.findOnce(space, segment))));
}

async function toRun(group: Grouped, find: (segment: number) => Promise<Segment>): Promise<Run> {
  const { segment, begin, end, first, last } = group;
  if (segment === null || begin === null || end === null || !isWhole(group)) return oneByOne([group]);
  const record = await find(segment);
  return { first, last, size: end - begin, bytes: () => record.at(begin, end - begin) };
}

/** An event that was replayed lies among events of another record. */
function followsOn({ count, first, last }: Grouped, before: Grouped | undefined): boolean {
  return last - first === count - 1 && (before === undefined || before.last === first - 1);
}

/**
 * Whether the record can be sent as it is: every event from the first to the last is in this inbox, in the order of
 * the record, with one comma between two, and no producer has to be filled in.
 */
function isWhole({ count, least_shift, most_shift, begin, end, size, fill }: Grouped): boolean {
  if (least_shift !== most_shift || fill !== 0) return false;
  return (end ?? 0) - (begin ?? 0) === (size ?? 0) + count - 1;
}

function oneByOne(groups: readonly Grouped[]): Run {
  const first = Math.min(...groups.map((group) => group.first));
  const last = Math.max(...groups.map((group) => group.last));
  const size = groups.reduce((sum, group) => sum + (group.size ?? 0), 0);
  return { first, last, size, bytes: null };
}
