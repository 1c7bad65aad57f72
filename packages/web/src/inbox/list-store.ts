import { desk, type Filter, type Page } from '../api/desk.ts';
import { calmly } from '../api/refused.ts';
import type { Row } from '../api/types.ts';
import { serverNow } from '../live/clock.ts';
import { EMPTY, isSearch, type ListAction, type ListState, type Next, reduceList } from './list-state.ts';

const PAGE = 100;
/** How much is asked for at once when a long list is settled again. */
const MOST = 200;

/** A search that lacked the newest is asked again: the index catches up by itself. */
const AGAIN_MS = 2_000;

/** The list outlives its screen, so that coming back finds it as it was left. */
class ListStore {
  #state: ListState = EMPTY;
  #key: string | null = null;
  /** The next page, while it is on its way. */
  #coming: Promise<Page> | null = null;
  /** Only the newest look counts: an older one may come back later with less. */
  #look = 0;
  readonly #listeners = new Set<() => void>();
  scrollTop = 0;
  cursor: string | null = null;

  readonly get = () => this.#state;
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  dispatch(action: ListAction): void {
    this.#state = reduceList(this.#state, action);
    for (const tell of this.#listeners) tell();
  }

  /** Forgets everything: another person sits here now. */
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

  /** When the first look has come back, whatever it found. On a screen without the list that is never. */
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

  /** Asks again for as much as was loaded, and takes the new order. */
  async settle(): Promise<void> {
    const look = ++this.#look;
    try {
      const { pages, next } = await askAgain(this.#state);
      if (look !== this.#look) return;
      const { seq } = this.#state;
      // A page that goes on from the old order has no place in the new one.
      this.#coming = null;
      this.dispatch({ kind: 'settle', pages, next, at: serverNow() });
      if (!this.#state.complete) setTimeout(() => look === this.#look && void this.settle(), AGAIN_MS);
      // A look that was asked later has come back sooner: what it knew is not in this one.
      if (this.#state.seq < seq) void this.refresh();
    } catch (error) {
      if (look === this.#look) this.dispatch({ kind: 'failed', why: calmly(error) });
    }
  }

  /**
   * Asks again for as much as was loaded, and moves nothing: rows change where they stand, and what is new waits behind
   * its line. Gives the ids of those rows that were not told of, because they stand elsewhere now.
   */
  async refresh(): Promise<string[]> {
    if (this.#key === null) return [];
    if (this.#state.phase !== 'ready' || this.#state.entries.length === 0) {
      await this.settle();
      return [];
    }
    const look = this.#look;
    try {
      const { pages } = await askAgain(this.#state);
      if (look !== this.#look) return [];
      this.dispatch({ kind: 'refresh', pages });
      const told = new Set(pages.flatMap((page) => page.deliveries.map((row) => row.delivery_id)));
      return this.#state.entries.flatMap(({ id }) => (told.has(id) ? [] : [id]));
    } catch (error) {
      if (look === this.#look) this.dispatch({ kind: 'failed', why: calmly(error) });
      return [];
    }
  }

  more(): void {
    const { filter, next } = this.#state;
    if (next === null || this.#coming !== null) return;
    const coming = ask(filter, next, PAGE);
    this.#coming = coming;
    const take = (action: ListAction) => {
      if (this.#coming !== coming) return;
      // Before it is told: a page may be empty, and whoever hears of it asks for the one behind it.
      this.#coming = null;
      this.dispatch(action);
    };
    coming.then(
      (page) => take({ kind: 'more', page, next: following(filter, next, page) }),
      (error) => take({ kind: 'failed', why: calmly(error) }),
    );
  }

  row(id: string): Row | undefined {
    return this.#state.rows[id];
  }
}

/** As many as are loaded, from the beginning; the first time, as far as something is found (D83). The rest comes when it is shown. */
async function askAgain({ filter, entries }: ListState): Promise<{ pages: Page[]; next: Next | null }> {
  const pages: Page[] = [];
  let next: Next | null = firstPart(filter);
  let count = 0;
  do {
    const page: Page = await ask(filter, next, Math.min(MOST, Math.max(PAGE, entries.length - count)));
    next = following(filter, next, page);
    pages.push(page);
    count += page.deliveries.length;
  } while (next !== null && (count < entries.length || count === 0));
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
  // A search runs over all sections by itself.
  const isAll = filter.section === undefined && !isSearch(filter);
  return from.part === 'open' && isAll ? { part: 'earlier', cursor: null } : null;
}

export const list = new ListStore();
