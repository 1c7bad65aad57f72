import { desk } from '../api/desk.ts';
import { asking, deliveryQuery } from '../api/questions.ts';
import { calmly, isNotThere } from '../api/refused.ts';
import type { Detail, Row } from '../api/types.ts';
import { list } from '../inbox/list-store.ts';

/** With more changes than this at once, reading the list again is cheaper than reading each delivery. */
const MOST = 15;
const MOST_ELSEWHERE = 60;
const AT_ONCE = 4;

/**
 * After a silence nothing on the screen can be trusted, so everything is read again. Rows change in place; the order
 * waits.
 */
export async function lookAgain(): Promise<void> {
  await Promise.all([asking.invalidateQueries(), refreshList()]);
}

async function refreshList(): Promise<void> {
  const elsewhere = await list.refresh();
  // So many rows have moved that it is a different list.
  if (elsewhere.length > MOST_ELSEWHERE) await list.settle();
  else await inTurn(elsewhere, takeDelivery);
}

/** A few at a time, because each may be a mebibyte. */
async function inTurn(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids];
  const go = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, go));
}

/** The person's own data: nobody else changes it, and an older answer could overwrite what they have just chosen. */
const OWN: ReadonlySet<unknown> = new Set(['session', 'preferences', 'settings']);

/**
 * Reads what happened after the page was loaded and before the live connection was open, at `seq`, because nobody was
 * told of that.
 */
export async function catchUp(seq = Number.POSITIVE_INFINITY): Promise<void> {
  const isOlder: Parameters<typeof asking.invalidateQueries>[0] = {
    predicate: ({ queryKey }) => !OWN.has(queryKey[0]),
  };
  void asking.invalidateQueries(isOlder);
  await list.isThere();
  if (list.get().seq < seq) await countArrivals();
}

/**
 * Changes that are announced by these names instead of a delivery's id, with the queries that they make out of date.
 */
const NAMED: Record<string, readonly string[]> = {
  agents: ['agents'],
  // The person's own role may be among them.
  people: ['people', 'session'],
  me: ['preferences', 'sessions', 'passkeys', 'tokens'],
  events: ['events'],
  tasks: ['tasks'],
  producers: ['producers'],
  settings: ['settings'],
};

/** Announced when the page was too slow to be told the single changes. */
const EVERYTHING = 'everything';

/** Reads everything again that these names are about. */
export async function take(ids: readonly string[]): Promise<void> {
  if (ids.includes(EVERYTHING)) return lookAgain();
  for (const key of ids.flatMap((id) => NAMED[id] ?? [])) void asking.invalidateQueries({ queryKey: [key] });
  const deliveries = ids.filter((id) => NAMED[id] === undefined);
  if (deliveries.length === 0) return;
  for (const key of ['overview', 'history', 'agents', 'audit'])
    void asking.invalidateQueries({ queryKey: [key] });
  if (deliveries.length <= MOST) return inTurn(deliveries, takeDelivery);
  const told = new Set(deliveries);
  void asking.invalidateQueries({
    predicate: ({ queryKey: [name, id], state }) =>
      name === 'delivery' && (told.has(id as string) || isThreaded(state.data)),
  });
  await refreshList();
  await countArrivals();
}

/** Reads one delivery again, for its row and for where it is open. */
export async function takeDelivery(id: string): Promise<void> {
  try {
    const detail = await desk.delivery(id);
    await showWhereAsked(detail);
    list.dispatch({ kind: 'rows', rows: [detail] });
    tellItsThread(detail);
    await showWhereNothingStands();
  } catch (error) {
    if (!isNotThere(error)) list.dispatch({ kind: 'failed', why: calmly(error) });
  }
}

async function showWhereAsked(detail: Detail): Promise<void> {
  const { queryKey } = deliveryQuery(detail.delivery_id);
  if (asking.getQueryState(queryKey) === undefined) return;
  // An answer that is under way, the first one too, may be older than this one.
  await asking.cancelQueries({ queryKey });
  asking.setQueryData(queryKey, detail);
}

const isThreaded = (detail: unknown): detail is Detail =>
  detail !== undefined && (detail as Detail).thread_id !== null;

/** What is open beside it tells its place among these, and what became of the others (D88). */
function tellItsThread(changed: Detail): void {
  if (!isThreaded(changed)) return;
  void asking.invalidateQueries({
    predicate: ({ queryKey: [name, id], state: { data } }) =>
      name === 'delivery' &&
      id !== changed.delivery_id &&
      isThreaded(data) &&
      data.agent_id === changed.agent_id &&
      data.thread_id === changed.thread_id,
  });
}

async function countArrivals(): Promise<void> {
  const page = await desk.deliveries({ ...list.get().filter, limit: 200 }).catch(() => null);
  const rows = page?.deliveries ?? [];
  list.dispatch({ kind: 'rows', rows: rows.filter((row) => !isShown(row)) });
  await showWhereNothingStands();
}

const isShown = (row: Row) => JSON.stringify(list.row(row.delivery_id)) === JSON.stringify(row);

/** In an empty list new rows are shown at once, because there is nothing to push aside. */
async function showWhereNothingStands(): Promise<void> {
  const { entries, arrivals } = list.get();
  if (entries.length === 0 && arrivals.length > 0) await list.settle();
}
