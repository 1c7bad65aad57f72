import { desk } from '../api/desk.ts';
import { asking, sessionQuery } from '../api/questions.ts';
import { calmly, isLoggedOut, isNotThere } from '../api/refused.ts';
import { kept } from '../api/request.ts';
import type { Row } from '../api/types.ts';
import { list } from '../inbox/list-store.ts';

const GATHER_MS = 120;
/** More than this at once, and a new look at the list is cheaper than one at each. */
const MOST = 15;
const MOST_ELSEWHERE = 60;
const AT_ONCE = 4;
const AGAIN_MS = 2000;
/** So often nobody is known before the line rests: somebody else may be logging in just now, in another tab. */
const STRANGE_MOST = 3;
/** How long a line may take to stand. After that its `hello` says how often it can be heard. */
const STANDS_MS = 30_000;
const BEATS_MISSED = 3;

/** Whether the live line stands; the page says so when it does not. */
let connected = true;
const listeners = new Set<() => void>();
export const line = {
  connected: () => connected,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

function mark(state: boolean): void {
  if (state === connected) return;
  connected = state;
  for (const tell of listeners) tell();
}

/** Listens until it is told to stop. Comes back by itself after a restart of the server, and then looks at everything again. */
export function listen(): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let gather: ReturnType<typeof setTimeout> | undefined;
  let wasDown = false;
  let isFirst = true;
  let stopped = false;
  let strange = 0;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let mostSilentMs = STANDS_MS;
  const about = new Set<string>();

  // The next ones wait until these are taken in: a storm is looked at as often as there is time for it.
  const flush = async () => {
    const ids = [...about];
    about.clear();
    await take(ids).catch(() => {});
    gather = about.size > 0 && !stopped ? setTimeout(flush, GATHER_MS) : undefined;
  };

  const connect = () => {
    if (stopped) return;
    source = new EventSource('/desk/stream');
    mostSilentMs = STANDS_MS;
    heard();
    source.addEventListener('hello', (event) => {
      const { ledger_seq, beat_seconds } = JSON.parse(event.data) as Hello;
      if (beat_seconds !== undefined) mostSilentMs = beat_seconds * BEATS_MISSED * 1000;
      heard();
      strange = 0;
      mark(true);
      // What was kept for a day without network is as old as what was shown before a silence.
      if (wasDown || kept.at() !== null) void lookAgain();
      else if (isFirst) void catchUp(ledger_seq);
      wasDown = false;
      isFirst = false;
    });
    source.addEventListener('beat', heard);
    source.addEventListener('change', (event) => {
      heard();
      about.add((JSON.parse(event.data) as { about: string }).about);
      gather ??= setTimeout(flush, GATHER_MS);
    });
    source.addEventListener('reconnect', lost);
    source.addEventListener('error', lost);
  };

  // A connection can die without a word: a laptop that slept, a network that was changed, a proxy that hangs.
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(lost, mostSilentMs);
  };

  const hangUp = () => {
    source?.close();
    clearTimeout(timer);
    clearTimeout(silence);
  };

  const lost = () => {
    hangUp();
    wasDown = true;
    mark(false);
    timer = setTimeout(connect, AGAIN_MS);
    // A lost line may be a lost session, or somebody else's by now: the question below finds out.
    void asking.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch((error) => {
      // Nobody would be answered until somebody has logged in.
      if (isLoggedOut(error) && ++strange >= STRANGE_MOST) hangUp();
    });
  };

  const comeBack = () => {
    strange = 0;
    hangUp();
    connect();
  };

  // Whoever comes back to this tab may have logged in in another one.
  const seen = () => {
    if (strange >= STRANGE_MOST && document.visibilityState === 'visible') comeBack();
  };

  connect();
  returns.add(comeBack);
  document.addEventListener('visibilitychange', seen);
  return () => {
    stopped = true;
    returns.delete(comeBack);
    document.removeEventListener('visibilitychange', seen);
    hangUp();
    clearTimeout(gather);
  };
}

type Hello = { ledger_seq?: number; beat_seconds?: number };

const returns = new Set<() => void>();

/** Somebody has logged in again: the line rested until now. */
export function listenAgain(): void {
  for (const comeBack of returns) comeBack();
}

/** After silence nothing that is shown can be trusted. Rows change where they stand; the order waits. */
export async function lookAgain(): Promise<void> {
  await Promise.all([asking.invalidateQueries(), refreshList()]);
}

async function refreshList(): Promise<void> {
  const elsewhere = await list.refresh();
  // So many are gone from their places that it is another list.
  if (elsewhere.length > MOST_ELSEWHERE) await list.settle();
  else await inTurn(elsewhere, takeDelivery);
}

/** A few at a time: each may be a mebibyte. */
async function inTurn(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const left = [...ids];
  const go = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, go));
}

/** The person's own: nobody else changes them, and an older answer could come over what they have just chosen. */
const OWN: ReadonlySet<unknown> = new Set(['session', 'preferences', 'settings']);

/** What happened after the page asked and before the line stood, at `seq`, was told to nobody. */
async function catchUp(seq = Number.POSITIVE_INFINITY): Promise<void> {
  const isOlder: Parameters<typeof asking.invalidateQueries>[0] = {
    predicate: ({ state, queryKey }) => state.data !== undefined && !OWN.has(queryKey[0]),
  };
  void asking.invalidateQueries(isOlder);
  await list.isThere();
  if (list.get().seq < seq) await countArrivals();
}

/** What is said by name and is no delivery, with the questions whose answers it makes old. */
const NAMED: Record<string, readonly string[]> = {
  agents: ['agents'],
  people: ['people'],
  me: ['preferences', 'sessions', 'passkeys', 'tokens'],
  events: ['events'],
  tasks: ['tasks'],
  producers: ['producers'],
  settings: ['settings'],
};

/** Said when we were too slow to be told the names. */
const EVERYTHING = 'everything';

async function take(ids: string[]): Promise<void> {
  if (ids.includes(EVERYTHING)) return lookAgain();
  for (const key of ids.flatMap((id) => NAMED[id] ?? [])) void asking.invalidateQueries({ queryKey: [key] });
  const deliveries = ids.filter((id) => NAMED[id] === undefined);
  if (deliveries.length === 0) return;
  for (const key of ['overview', 'history', 'agents', 'audit'])
    void asking.invalidateQueries({ queryKey: [key] });
  if (deliveries.length <= MOST) return inTurn(deliveries, takeDelivery);
  const told = new Set(deliveries);
  void asking.invalidateQueries({
    predicate: ({ queryKey: [name, id] }) => name === 'delivery' && told.has(id as string),
  });
  await refreshList();
  await countArrivals();
}

async function takeDelivery(id: string): Promise<void> {
  try {
    const detail = await desk.delivery(id);
    if (asking.getQueryData(['delivery', id]) !== undefined) asking.setQueryData(['delivery', id], detail);
    list.dispatch({ kind: 'row', row: detail });
    await showWhereNothingStands();
  } catch (error) {
    if (!isNotThere(error)) list.dispatch({ kind: 'failed', why: calmly(error) });
  }
}

async function countArrivals(): Promise<void> {
  const page = await desk.deliveries({ ...list.get().filter, limit: 200 }).catch(() => null);
  const rows = page?.deliveries ?? [];
  for (const row of rows) if (!isShown(row)) list.dispatch({ kind: 'row', row });
  await showWhereNothingStands();
}

const isShown = (row: Row) => JSON.stringify(list.row(row.delivery_id)) === JSON.stringify(row);

/** Where nothing stands, nothing can be pushed aside. */
async function showWhereNothingStands(): Promise<void> {
  const { entries, arrivals } = list.get();
  if (entries.length === 0 && arrivals.length > 0) await list.settle();
}
