import { desk, type Filter, type Page } from '../api/desk.ts';
import { calmly } from '../api/refused.ts';
import type { Row } from '../api/types.ts';
import { serverNow } from '../live/clock.ts';
import { EMPTY, isSearch, type ListAction, type ListState, type Next, reduceList } from './list-state.ts';

const PAGE = 100;
/** The largest page to ask for when a long list is read again. */
const MOST = 200;

/** How far down to look for what has just arrived: it may have been answered in the meantime. */
const FARTHEST = 1000;

/** A search whose index lacked the newest deliveries is repeated, because the index catches up by itself. */
const AGAIN_MS = 2_000;

/** The list outlives its screen, so that it is as it was when the person comes back. */
class ListStore {
  #state: ListState = EMPTY;
  #key: string | null = null;
  /** The next page, while it is being loaded. */
  #coming: Promise<Page> | null = null;
  /** Only the newest reading counts: an older one may arrive later and know less. */
  #look = 0;
  /** For each reading under way, the rows that came one by one since it began. */
  readonly #meanwhile = new Set<Map<string, Row>>();
  readonly #listeners = new Set<() => void>();
  scrollTop = 0;
  cursor: string | null = null;

  readonly get = () => this.#state;
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  dispatch(action: ListAction): void {
    if (action.kind === 'rows')
      for (const rows of this.#meanwhile) for (const row of action.rows) rows.set(row.delivery_id, row);
    this.#state = reduceList(this.#state, action);
    for (const tell of this.#listeners) tell();
  }

  /** Forgets everything, because another person sits here now. */
  clear(): void {
    this.#key = null;
    this.#state = EMPTY;
    this.cursor = null;
  }

  setCursor(id: string | null): void {
    if (this.cursor === id) return;
    this.cursor = id;
    for (const tell of this.#listeners) tell();
  }
  readonly getCursor = () => this.cursor;

  open(filter: Filter): void {
    const key = JSON.stringify(filter);
    if (key === this.#key) return;
    this.#key = key;
    this.scrollTop = 0;
    this.dispatch({ kind: 'start', filter });
    this.#coming = null;
    void this.settle();
  }

  /** Resolves when the first reading has arrived, whatever it found. On a screen without the list, that is never. */
  isThere(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => look());
      const look = () => {
        if (this.#state.phase === 'loading') return;
        stop();
        resolve();
      };
      look();
    });
  }

  /** Takes in what has arrived, and returns the topmost of it; null where nothing had. */
  async takeIn(): Promise<string | null> {
    const arrived = new Set(this.#state.arrivals);
    await this.settle(arrived);
    const first = this.#state.entries.find(({ id }) => arrived.has(id))?.id ?? null;
    if (first !== null) this.dispatch({ kind: 'show', id: first });
    return first;
  }

  /** Reads as much again as was loaded, or on to the first of what is wanted, and takes over the new order. */
  async settle(wanted: ReadonlySet<string> = new Set()): Promise<void> {
    const look = ++this.#look;
    const meanwhile = this.#begin();
    try {
      const { pages, next } = await askAgain(this.#state, wanted);
      if (look !== this.#look) return;
      const { seq } = this.#state;
      // A page that continues the old order has no place in the new one.
      this.#coming = null;
      this.#take({ kind: 'settle', pages, next, at: serverNow() }, meanwhile);
      if (!this.#state.complete) setTimeout(() => look === this.#look && void this.settle(), AGAIN_MS);
      // A refresh that began later has arrived sooner, and this reading lacks what it knew.
      if (this.#state.seq < seq) void this.refresh();
    } catch (error) {
      if (look === this.#look) this.dispatch({ kind: 'failed', why: calmly(error) });
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  /**
   * Reads as much again as was loaded, and moves nothing: rows change in place, and new ones wait behind their line.
   * Returns the ids of the rows that were not in the answer, because they are elsewhere now.
   */
  async refresh(): Promise<string[]> {
    if (this.#key === null) return [];
    if (this.#state.phase !== 'ready' || this.#state.entries.length === 0) {
      await this.settle();
      return [];
    }
    const look = this.#look;
    const meanwhile = this.#begin();
    try {
      const { pages } = await askAgain(this.#state);
      if (look !== this.#look) return [];
      this.#take({ kind: 'refresh', pages }, meanwhile);
      const told = new Set(pages.flatMap((page) => page.deliveries.map((row) => row.delivery_id)));
      return this.#state.entries.flatMap(({ id }) => (told.has(id) ? [] : [id]));
    } catch (error) {
      if (look === this.#look) this.dispatch({ kind: 'failed', why: calmly(error) });
      return [];
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  more(): void {
    const { filter, next } = this.#state;
    if (next === null || this.#coming !== null) return;
    const coming = ask(filter, next, PAGE);
    const meanwhile = this.#begin();
    this.#coming = coming;
    const take = (action: ListAction) => {
      this.#meanwhile.delete(meanwhile);
      if (this.#coming !== coming) return;
      // Cleared before the listeners are told: the page may be empty, and then they ask for the next one at once.
      this.#coming = null;
      this.#take(action, meanwhile);
    };
    coming.then(
      (page) => take({ kind: 'more', page, next: following(filter, next, page) }),
      (error) => take({ kind: 'failed', why: calmly(error) }),
    );
  }

  row(id: string): Row | undefined {
    return this.#state.rows[id];
  }

  #begin(): Map<string, Row> {
    const meanwhile = new Map<string, Row>();
    this.#meanwhile.add(meanwhile);
    return meanwhile;
  }

  /** The answer may be older than what came while it was under way, so that is taken once more. */
  #take(action: ListAction, meanwhile: ReadonlyMap<string, Row>): void {
    this.dispatch(action);
    if (meanwhile.size > 0) this.dispatch({ kind: 'rows', rows: [...meanwhile.values()] });
  }
}

/**
 * Reads as many rows as are loaded, from the beginning; the first time, until something is found (D83). The rest is
 * loaded when it is scrolled to.
 */
async function askAgain(
  { filter, entries }: ListState,
  wanted: ReadonlySet<string> = new Set(),
): Promise<{ pages: Page[]; next: Next | null }> {
  const pages: Page[] = [];
  let next: Next | null = firstPart(filter);
  let count = 0;
  let isFound = wanted.size === 0;
  const isWantedOn = (from: Next) => !isFound && from.part === 'open' && count < FARTHEST;
  do {
    const page: Page = await ask(filter, next, Math.min(MOST, Math.max(PAGE, entries.length - count)));
    next = following(filter, next, page);
    pages.push(page);
    count += page.deliveries.length;
    isFound ||= page.deliveries.some((row) => wanted.has(row.delivery_id));
  } while (next !== null && (count < entries.length || count === 0 || isWantedOn(next)));
  return { pages, next };
}

function firstPart(filter: Filter): Next {
  return { part: filter.section === 'earlier' ? 'earlier' : 'open', cursor: null };
}

function ask(filter: Filter, next: Next, limit: number): Promise<Page> {
  const section = next.part === 'earlier' ? 'earlier' : filter.section;
  return desk.deliveries({ ...filter, section, cursor: next.cursor, limit });
}

function following(filter: Filter, from: Next, page: Page): Next | null {
  if (page.next_cursor !== null) return { part: from.part, cursor: page.next_cursor };
  // A search covers all sections by itself.
  const isAll = filter.section === undefined && !isSearch(filter);
  return from.part === 'open' && isAll ? { part: 'earlier', cursor: null } : null;
}

export const list = new ListStore();
