import {
  DELIVERY_TYPES,
  type Delivery,
  type DeliveryType,
  SECTIONS,
  type Section,
} from '../../core/deliveries/delivery.ts';
import { indexNewest } from '../../core/deliveries/search/index-words.ts';
import { askedWords, MOST_WALKED, search } from '../../core/deliveries/search/search.ts';
import type { Person } from '../../core/people/person.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { fromIso, type Micros } from '../../core/time.ts';
import { choice, cursorOf, invalid, type Query, single, wholeQuery } from '../../http/reading/fields.ts';
import { endOfLedger } from '../ledger-end.ts';
import { fromFoundCursor, fromListCursor, toFoundCursor, toListCursor } from './cursors.ts';
import { showRows } from './seen.ts';

const OPEN: readonly Section[] = SECTIONS.filter((s) => s !== 'earlier');
const PAGE = 50;

export type Asked = {
  section: Section | undefined;
  agent: string | undefined;
  type: DeliveryType | undefined;
  limit: number;
};

function toAsked(query: Query): Asked {
  const section = single(query, 'section');
  const type = single(query, 'type');
  return {
    section: section === null ? undefined : choice('section', section, SECTIONS),
    agent: single(query, 'agent') ?? undefined,
    type: type === null ? undefined : choice('type', type, DELIVERY_TYPES),
    limit: wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? PAGE,
  };
}

/** With words or times, a search over everything, newest first; without them the list, in the desk's order. */
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
    before: toFoundCursor(cursorOf(query)),
    limit,
  };
  const complete = wanted.words.length === 0 || (await indexNewest(room, person.space));
  return room.store.read(person.space, async (tx) => {
    const ledger_seq = await endOfLedger(tx);
    const { deliveries, next } = await search(room, tx, wanted);
    return {
      deliveries: await showRows(room, tx, deliveries),
      next_cursor: next === null ? null : fromFoundCursor(next),
      ledger_seq,
      complete,
    };
  });
}

const STEP = 500;

type Walk = { section: Section; agent: string | undefined; after: ListPlace | undefined };
type ListPlace = Pick<Delivery, 'section' | 'sectionAt' | 'seq'>;

/** One section, or without one everything that is open, in the desk's order. */
async function listed(room: Room, person: Person, query: Query) {
  const { section: wanted, agent, type, limit } = toAsked(query);
  const sections = wanted === undefined ? OPEN : [wanted];
  const cursor = toListCursor(cursorOf(query), sections);
  return room.store.read(person.space, async (tx) => {
    const ledger_seq = await endOfLedger(tx);
    const page = new TypedPage(tx, type, limit);
    const from = cursor === null ? 0 : sections.indexOf(cursor.section);
    for (const section of sections.slice(from)) {
      const after = cursor?.section === section ? cursor : undefined;
      await page.walk({ section, agent, after });
    }
    return {
      deliveries: await showRows(room, tx, page.rows),
      next_cursor: page.end === null ? null : fromListCursor(page.end),
      ledger_seq,
    };
  });
}

/** Lists are stored in the desk's order and not by type: rows of a type are picked out in steps, up to a bound. */
class TypedPage {
  readonly rows: Delivery[] = [];
  /** Where the next page begins; null when everything was seen. */
  end: ListPlace | null = null;
  readonly #tx: Tx;
  readonly #type: DeliveryType | undefined;
  readonly #limit: number;
  #walked = 0;
  #last: ListPlace | null = null;

  constructor(tx: Tx, type: DeliveryType | undefined, limit: number) {
    this.#tx = tx;
    this.#type = type;
    this.#limit = limit;
  }

  async walk({ section, agent, after }: Walk): Promise<void> {
    let place = after;
    while (this.end === null) {
      const limit = this.#type === undefined ? this.#limit + 1 - this.rows.length : STEP;
      const step = await this.#tx.deliveries.list({ section, agent, after: place, limit });
      for (const row of step) if (!this.#take(row)) return;
      place = step.at(-1);
      if (step.length < limit) return;
    }
  }

  /** False when the page is full, or when enough rows were examined: the page then ends before this row. */
  #take(row: Delivery): boolean {
    const isWanted = this.#type === undefined || row.type === this.#type;
    const isFull = isWanted && this.rows.length === this.#limit;
    if (isFull || this.#walked === MOST_WALKED) {
      this.end = this.#last;
      return false;
    }
    if (isWanted) this.rows.push(row);
    this.#last = row;
    this.#walked++;
    return true;
  }
}
