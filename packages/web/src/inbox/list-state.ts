import type { Filter, Page } from '../api/desk.ts';
import type { Row, Section } from '../api/types.ts';

/**
 * A row's place on the screen. `section` is the one it was in when the order was settled, whatever has happened to it
 * since.
 */
export type Entry = { id: string; section: Section };

/** Where the next page comes from: first everything open, then Earlier. */
export type Next = { part: 'open' | 'earlier'; cursor: string | null };

export type ListState = {
  filter: Filter;
  phase: 'loading' | 'ready' | 'failed';
  entries: readonly Entry[];
  rows: Readonly<Record<string, Row>>;
  /** Arrived since the order was settled; shown when the person asks for them. */
  arrivals: readonly string[];
  next: Next | null;
  loadedAt: number | null;
  /** The newest ledger entry at the time the list was read. */
  seq: number;
  /** Whether the search index already had the newest deliveries. */
  complete: boolean;
  /** The last refresh failed; what is shown is as of `loadedAt`. */
  stale: boolean;
  /** Why it failed, in one sentence. */
  trouble: string;
  checked: ReadonlySet<string>;
  /** The row that the list was last asked to show on top. */
  shown: string | null;
};

export type ListAction =
  | { kind: 'start'; filter: Filter }
  | { kind: 'settle'; pages: readonly Page[]; next: Next | null; at: number }
  | { kind: 'refresh'; pages: readonly Page[] }
  | { kind: 'more'; page: Page; next: Next | null }
  | { kind: 'rows'; rows: readonly Row[] }
  | { kind: 'failed'; why: string }
  | { kind: 'show'; id: string }
  | { kind: 'check'; id: string }
  | { kind: 'uncheck' };

export const EMPTY: ListState = {
  filter: {},
  phase: 'loading',
  entries: [],
  rows: {},
  arrivals: [],
  next: null,
  loadedAt: null,
  seq: 0,
  complete: true,
  stale: false,
  trouble: '',
  checked: new Set(),
  shown: null,
};

/** The order changes only in `settle`. Everything else changes rows in place, or waits behind "3 new". */
export function reduceList(state: ListState, action: ListAction): ListState {
  switch (action.kind) {
    case 'start':
      return { ...EMPTY, filter: action.filter };
    case 'settle':
      return settle(state, action);
    case 'refresh':
      return refresh(state, action.pages);
    case 'more':
      return { ...append(state, action.page), next: action.next };
    case 'rows':
      return takeRows(state, action.rows);
    case 'failed':
      return {
        ...state,
        phase: state.loadedAt === null ? 'failed' : 'ready',
        stale: true,
        trouble: action.why,
      };
    case 'show':
      return { ...state, shown: action.id };
    case 'check':
      return { ...state, checked: toggled(state.checked, action.id) };
    case 'uncheck':
      return { ...state, checked: new Set() };
  }
}

function settle(state: ListState, action: Extract<ListAction, { kind: 'settle' }>): ListState {
  const empty = { ...state, entries: [], rows: {}, arrivals: [] };
  const filled = action.pages.reduce(append, empty);
  const checked = new Set([...state.checked].filter((id) => id in filled.rows));
  const { next, at: loadedAt } = action;
  const { ledger_seq: seq = 0, complete = true } = action.pages[0] ?? {};
  return { ...filled, checked, phase: 'ready', next, loadedAt, seq, complete, stale: false };
}

function refresh(state: ListState, pages: readonly Page[]): ListState {
  const taken = takeRows(
    state,
    pages.flatMap((page) => page.deliveries),
  );
  const { ledger_seq: seq = 0, complete = true } = pages[0] ?? {};
  return { ...taken, seq, complete, stale: false };
}

function append(state: ListState, page: Page): ListState {
  const fresh = page.deliveries.filter((row) => !(row.delivery_id in state.rows));
  return {
    ...state,
    entries: [...state.entries, ...fresh.map((row) => ({ id: row.delivery_id, section: row.section }))],
    rows: { ...state.rows, ...byId(page.deliveries) },
    arrivals: state.arrivals.filter((id) => !fresh.some((row) => row.delivery_id === id)),
  };
}

const byId = (rows: readonly Row[]) => Object.fromEntries(rows.map((row) => [row.delivery_id, row]));

/** All at once: a copy of a long list for each of its rows would keep the page busy for minutes. */
function takeRows(state: ListState, rows: readonly Row[]): ListState {
  if (rows.length === 0) return state;
  const taken = byId(rows);
  const isShown = (row: Row) => row.delivery_id in state.rows;
  const arrived = Object.values(taken).filter((row) => !isShown(row) && isArrival(row, state.filter));
  return {
    ...state,
    rows: { ...state.rows, ...byId(rows.filter(isShown)) },
    arrivals: [
      ...state.arrivals.filter((id) => !(id in taken)),
      ...arrived.map(({ delivery_id }) => delivery_id),
    ],
  };
}

const isArrival = (row: Row, filter: Filter) =>
  fits(row, filter) && row.section !== 'earlier' && row.state === 'pending';

/** With words or times in the filter, the server searches everywhere, newest first. */
export function isSearch(filter: Filter): boolean {
  return filter.q !== undefined || filter.from !== undefined || filter.to !== undefined;
}

/** Whether words match cannot be decided here, so a search shows what was found until it is run again. */
function fits(row: Row, filter: Filter): boolean {
  if (isSearch(filter)) return false;
  if (filter.agent !== undefined && row.agent_id !== filter.agent) return false;
  if (filter.type !== undefined && row.type !== filter.type) return false;
  return filter.section === undefined || row.section === filter.section;
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** The entry below or above; the first or last one when none is chosen yet. */
export function neighbour(entries: readonly Entry[], id: string | null, step: 1 | -1): string | null {
  const index = entries.findIndex((entry) => entry.id === id);
  if (index === -1) return (step === 1 ? entries.at(0) : entries.at(-1))?.id ?? null;
  return entries[Math.min(entries.length - 1, Math.max(0, index + step))]?.id ?? null;
}

const WAITS: ReadonlySet<Section> = new Set(['needs_you', 'alerts', 'new_agents']);

/** Where to go after an answer: the next delivery below that still waits, or else the first from the top. */
export function nextWaiting(state: ListState, after: string): string | null {
  const index = state.entries.findIndex((entry) => entry.id === after);
  const round = [...state.entries.slice(index + 1), ...state.entries.slice(0, Math.max(0, index))];
  const waits = ({ id, section }: Entry) => {
    const row = state.rows[id];
    return row?.state === 'pending' && WAITS.has(section) && WAITS.has(row.section);
  };
  return round.find(waits)?.id ?? null;
}

/** The tide line is drawn above the first row that arrived since the person's last sitting; null when none has. */
export function tidePlace(state: ListState, satAt: string | null): string | null {
  if (satAt === null || isSearch(state.filter)) return null;
  const isNew = (entry: Entry) => (state.rows[entry.id]?.created_at ?? '') > satAt;
  const open = state.entries.filter((entry) => entry.section !== 'earlier' && entry.section !== 'snoozed');
  for (const section of new Set(open.map((entry) => entry.section))) {
    const inside = open.filter((entry) => entry.section === section);
    // Due deliveries are on top whatever their age, so the line is drawn where only new ones follow.
    const lastOld = inside.findLastIndex((entry) => !isNew(entry));
    const first = inside[lastOld + 1];
    if (first !== undefined) return first.id;
  }
  return null;
}
