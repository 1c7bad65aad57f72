import type { FindQuery, SearchRows } from '../../../core/deliveries/store.ts';
import { insertOf, type Session, Statement, statement } from '../../statement.ts';
import { COLUMNS, type DeliveryRow, toDelivery } from './delivery-columns.ts';

const WORD = ['space_id', 'word', 'seq'] as const;
const add = insertOf('words', WORD, WORD);

const count = statement<{ space: string; word: string; most: number }>()((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('words')
        .select('seq')
        .where('space_id', '=', p.space)
        .where('word', '=', p.word)
        .limit(p.most)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('n')),
);

/** An empty `section`, `agent` or `type` matches any. `word0`, `word1`, … are the words. */
type Found = {
  space: string;
  section: string;
  agent: string;
  type: string;
  from: number;
  before: number;
  limit: number;
} & Record<`word${number}`, string>;

/** One statement per number of words: the first word is walked, newest first, and the others are looked up. */
const finders = new Map<number, Statement<Found, DeliveryRow>>();

function finder(words: number): Statement<Found, DeliveryRow> {
  let found = finders.get(words);
  if (found === undefined) {
    found = words === 0 ? withoutWords() : withWords(words);
    finders.set(words, found);
  }
  return found;
}

function withoutWords(): Statement<Found, DeliveryRow> {
  return new Statement<Found, DeliveryRow>((db, p) =>
    db
      .selectFrom('deliveries as d')
      .select(COLUMNS.map((name) => `d.${name}` as const))
      .where('d.space_id', '=', p.space)
      .where('d.seq', '>=', p.from)
      .where('d.seq', '<', p.before)
      .where((eb) => eb.or([eb(eb.val(p.section), '=', ''), eb('d.section', '=', p.section)]))
      .where((eb) => eb.or([eb(eb.val(p.agent), '=', ''), eb('d.agent_id', '=', p.agent)]))
      .where((eb) => eb.or([eb(eb.val(p.type), '=', ''), eb('d.type', '=', p.type)]))
      .orderBy('d.seq', 'desc')
      .limit(p.limit),
  );
}

function withWords(words: number): Statement<Found, DeliveryRow> {
  const others = Array.from({ length: words - 1 }, (_, i) => `word${i + 1}` as const);
  return new Statement<Found, DeliveryRow>((db, p) => {
    let query = db
      .selectFrom('words as w')
      .innerJoin('deliveries as d', (on) =>
        on.onRef('d.space_id', '=', 'w.space_id').onRef('d.seq', '=', 'w.seq'),
      )
      .select(COLUMNS.map((name) => `d.${name}` as const))
      .where('w.space_id', '=', p.space)
      .where('w.word', '=', p.word0 as string)
      .where('w.seq', '>=', p.from)
      .where('w.seq', '<', p.before);
    for (const name of others) {
      query = query.where((eb) =>
        eb.exists(
          eb
            .selectFrom('words as o')
            .select('o.seq')
            .whereRef('o.space_id', '=', 'w.space_id')
            .where('o.word', '=', p[name] as string)
            .whereRef('o.seq', '=', 'w.seq'),
        ),
      );
    }
    return query
      .where((eb) => eb.or([eb(eb.val(p.section), '=', ''), eb('d.section', '=', p.section)]))
      .where((eb) => eb.or([eb(eb.val(p.agent), '=', ''), eb('d.agent_id', '=', p.agent)]))
      .where((eb) => eb.or([eb(eb.val(p.type), '=', ''), eb('d.type', '=', p.type)]))
      .orderBy('w.seq', 'desc')
      .limit(p.limit);
  });
}

type Walk = { space: string; from: number; before: number; most: number };

const endOfAll = statement<Walk>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select('seq')
    .where('space_id', '=', p.space)
    .where('seq', '>=', p.from)
    .where('seq', '<', p.before)
    .orderBy('seq', 'desc')
    .limit(1)
    .offset(p.most),
);

const endOfWord = statement<Walk & { word: string }>()((db, p) =>
  db
    .selectFrom('words')
    .select('seq')
    .where('space_id', '=', p.space)
    .where('word', '=', p.word)
    .where('seq', '>=', p.from)
    .where('seq', '<', p.before)
    .orderBy('seq', 'desc')
    .limit(1)
    .offset(p.most),
);

export function searchRows(session: Session, space: string): SearchRows {
  return {
    add: async (word, seq) => void (await session.run(add, { space_id: space, word, seq })),
    count: async (word, most) => (await session.one(count, { space, word, most }))?.n ?? 0,
    find: async ({ words, section, agent, type, ...range }: FindQuery) => {
      const named = Object.fromEntries(words.map((word, i) => [`word${i}`, word]));
      const query = {
        space,
        section: section ?? '',
        agent: agent ?? '',
        type: type ?? '',
        ...range,
        ...named,
      };
      return (await session.all(finder(words.length), query)).map(toDelivery);
    },
    walkEnd: async (word, { from, before }, most) => {
      const walk = { space, from, before, most };
      const end = await (word === null
        ? session.one(endOfAll, walk)
        : session.one(endOfWord, { ...walk, word }));
      return end?.seq ?? null;
    },
  };
}
