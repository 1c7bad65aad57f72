import {
  DELIVERY_TYPES,
  type Delivery,
  type DeliveryType,
  SECTIONS,
  type Section,
} from '../core/deliveries/delivery.ts';
import { askedWords, search } from '../core/deliveries/search.ts';
import type { Person } from '../core/people/person.ts';
import type { Room } from '../core/room.ts';
import { fromIso, type Micros } from '../core/time.ts';
import { choice, invalid, type Query, single, wholeQuery } from '../http/fields.ts';
import { fromFoundCursor, fromListCursor, toFoundCursor, toListCursor } from './cursors.ts';
import { fromDelivery } from './mapping.ts';

const OPEN: readonly Section[] = SECTIONS.filter((s) => s !== 'earlier');
const PAGE = 50;

export type Asked = {
  section: Section | undefined;
  agent: string | undefined;
  type: DeliveryType | undefined;
  limit: number;
};

export function toAsked(query: Query): Asked {
  const section = single(query, 'section');
  const type = single(query, 'type');
  return {
    section: section === null ? undefined : choice('section', section, SECTIONS),
    agent: single(query, 'agent') ?? undefined,
    type: type === null ? undefined : choice('type', type, DELIVERY_TYPES),
    limit: wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? PAGE,
  };
}

/** Words and times are looked for everywhere, newest first; without them it is the list, in the desk's order. */
export function list(room: Room, person: Person, query: Query) {
  const isSearch = ['q', 'from', 'to'].some((field) => query[field] !== undefined);
  return isSearch ? found(room, person, query) : listed(room, person, query);
}

const LONGEST_QUESTION = 400;

function toWords(query: Query): string[] {
  const question = single(query, 'q');
  if (question === null) return [];
  if (question.length > LONGEST_QUESTION)
    throw invalid('q', `q may have at most ${LONGEST_QUESTION} characters.`);
  const words = askedWords(question);
  if (words.length === 0) throw invalid('q', 'q must hold at least one word.');
  return words;
}

export function toMoment(query: Query, field: 'from' | 'to'): Micros | null {
  const text = single(query, field);
  if (text === null) return null;
  const at = fromIso(text);
  if (at === null) throw invalid(field, `${field} must be an ISO 8601 time such as 2026-03-08T00:00:00Z.`);
  return at;
}

async function found(room: Room, person: Person, query: Query) {
  const { limit, ...asked } = toAsked(query);
  const wanted = {
    ...asked,
    words: toWords(query),
    from: toMoment(query, 'from'),
    to: toMoment(query, 'to'),
    before: toFoundCursor(single(query, 'cursor')),
    limit: limit + 1,
  };
  return room.store.read(person.space, async (tx) => {
    const rows = await search(room, tx, wanted);
    const seen = { now: room.clock.now(), samples: await tx.agents.samples() };
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      deliveries: rows.slice(0, limit).map((d) => fromDelivery(d, seen)),
      next_cursor: last === undefined ? null : fromFoundCursor(last.seq),
    };
  });
}

/** One section, or without one everything that is open, in the desk's order. */
async function listed(room: Room, person: Person, query: Query) {
  const { section: wanted, agent, type, limit } = toAsked(query);
  const sections = wanted === undefined ? OPEN : [wanted];
  const cursor = toListCursor(single(query, 'cursor'), sections);
  return room.store.read(person.space, async (tx) => {
    const rows: Delivery[] = [];
    const from = cursor === null ? 0 : sections.indexOf(cursor.section);
    for (const section of sections.slice(from)) {
      if (rows.length > limit) break;
      const after = cursor?.section === section ? cursor : undefined;
      const missing = limit + 1 - rows.length;
      rows.push(...(await tx.deliveries.list({ section, agent, type, after, limit: missing })));
    }
    const seen = { now: room.clock.now(), samples: await tx.agents.samples() };
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      deliveries: rows.slice(0, limit).map((d) => fromDelivery(d, seen)),
      next_cursor: last === undefined ? null : fromListCursor(last),
    };
  });
}
