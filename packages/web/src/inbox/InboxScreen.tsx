import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Filter } from '../api/desk.ts';
import type { Verdict } from '../api/types.ts';
import { useMayDecide } from '../api/use-may-decide.ts';
import { early } from '../composer/early.ts';
import { focusIsNowhere, leaveField } from '../frame/keep-focus.ts';
import { useKeys } from '../keys/use-keys.ts';
import { asksForAnswer } from '../words/delivery.ts';
import { BulkBar } from './BulkBar.tsx';
import { Divider, useListWidth } from './Divider.tsx';
import { FilterBar } from './FilterBar.tsx';
import { ListBody } from './ListBody.tsx';
import { ListHeader } from './ListHeader.tsx';
import { ListStrip } from './ListStrip.tsx';
import { neighbour } from './list-state.ts';
import { list } from './list-store.ts';
import { SnoozeMenu } from './SnoozeMenu.tsx';
import { acknowledge } from './triage.ts';
import './inbox.css';
import './row.css';
import './first-run.css';
import './bulk.css';

/** List and detail, side by side where there is room. */
export function InboxScreen() {
  const filter = useSearch({ strict: false }) as Filter;
  const params = useParams({ strict: false }) as { id?: string };
  const openId = params.id ?? null;
  const [isFiltering, setFiltering] = useState(false);
  const [snoozing, setSnoozing] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const [width, setWidth] = useListWidth();
  const navigate = useNavigate();
  const onFilter = useCallback(
    (next: Filter) => void navigate({ to: '/', search: next as never, replace: true }),
    [navigate],
  );

  useEffect(() => list.open(filter), [filter]);
  useFocusReturning(openId, filter);
  useInboxKeys(openId, {
    search: () => search.current?.focus(),
    filter: () => {
      setFiltering(true);
      requestAnimationFrame(() => document.getElementById('filter-section')?.focus());
    },
    snooze: setSnoozing,
  });

  const snoozed = snoozing === null ? undefined : list.row(snoozing);
  return (
    <div className="inbox" data-pane={openId === null ? 'list' : 'detail'}>
      <section
        className="list-pane"
        aria-label="Inbox"
        style={{ '--list-width': `${width}px` } as React.CSSProperties}
      >
        <ListHeader />
        <FilterBar
          filter={filter}
          onFilter={onFilter}
          search={search}
          isOpen={isFiltering}
          onToggle={() => setFiltering(!isFiltering)}
          onFound={toFirstRow}
        />
        <ListStrip onTakeIn={() => void takeIn(openId)} />
        <ListBody openId={openId} />
        <BulkBar hasKeys={openId === null} />
      </section>
      <Divider width={width} onWidth={setWidth} />
      <Outlet />
      {snoozed !== undefined && <SnoozeMenu rows={[snoozed]} onClose={() => setSnoozing(null)} />}
    </div>
  );
}

const isWide = () => matchMedia('(min-width: 1080px)').matches;

/** A list that has to scroll far draws the row a few frames later. */
const FRAMES = 10;

function focusRow(id: string, frames = FRAMES): void {
  // A row that exists takes the focus at once: one frame later, the next key may already have moved it elsewhere.
  const row = document.getElementById(`row-${id}`);
  if (row !== null) stepOn(row);
  else if (frames > 0) requestAnimationFrame(() => list.cursor === id && focusRow(id, frames - 1));
}

function stepOn(row: HTMLElement): void {
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

function goToRow(id: string | undefined): void {
  if (id === undefined) return;
  list.setCursor(id);
  focusRow(id);
}
const toFirstRow = () => goToRow(list.get().entries[0]?.id);

/** Shows what has arrived. What is open stays open, and the place in the list with it. */
async function takeIn(openId: string | null): Promise<void> {
  const first = await list.takeIn();
  if (first !== null && openId === null) goToRow(first);
}

/** Leaves the search or filter for the row at the cursor, or the first row. */
function toTheRows(): void {
  const { rows, entries } = list.get();
  const isThere = list.cursor !== null && list.cursor in rows;
  leaveField();
  goToRow(isThere ? (list.cursor ?? undefined) : entries[0]?.id);
}

/** When the person comes back from a detail or another screen, the focus returns to the row they left. */
function useFocusReturning(openId: string | null, filter: Filter): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another filter the rows come anew
  useEffect(() => {
    const isLoose = () => focusIsNowhere() || document.activeElement?.matches('.list-pane');
    void list.isThere().then(() => {
      if (list.cursor !== null && isLoose()) focusRow(list.cursor);
    });
  }, [filter]);
  const before = useRef(openId);
  useEffect(() => {
    if (openId !== null) list.setCursor(openId);
    else if (before.current !== null) focusRow(before.current);
    before.current = openId;
  }, [openId]);
}

type Opens = { search(): void; filter(): void; snooze(id: string): void };

function useInboxKeys(openId: string | null, opens: Opens): void {
  const move = useMoves(openId);
  const mayDecide = useMayDecide();
  const current = () => {
    const id = openId ?? list.cursor;
    return id === null ? undefined : list.row(id);
  };
  useKeys({
    next: () => move.step(1),
    previous: () => move.step(-1),
    open: () => move.open(),
    back: () => move.back(),
    check: () => {
      const row = current();
      if (row !== undefined) list.dispatch({ kind: 'check', id: row.delivery_id });
    },
    take_in: () => void takeIn(openId),
    search: opens.search,
    filter: opens.filter,
    ...(mayDecide && {
      snooze: () => {
        const row = current();
        if (row?.state === 'pending') opens.snooze(row.delivery_id);
      },
      acknowledge: () => {
        const row = current();
        if (row !== undefined) void acknowledge(row);
      },
      approve: () => move.openWith('approved'),
      reject: () => move.openWith('rejected'),
      redirect: () => move.openWith('redirected'),
    }),
  });
}

/** Moves the cursor; if a delivery is open beside the list, the detail follows. */
function useMoves(openId: string | null) {
  const navigate = useNavigate();
  const go = (id: string, replace: boolean) =>
    void navigate({ to: '/d/$id', params: { id }, search: (old: object) => old, replace } as never);
  return {
    step: (step: 1 | -1) => {
      const id = neighbour(list.get().entries, openId ?? list.cursor, step);
      if (id === null) return;
      list.setCursor(id);
      if (openId !== null) go(id, true);
      if (openId === null || isWide()) focusRow(id);
    },
    open: () => {
      if (list.cursor !== null && openId === null) go(list.cursor, false);
      else document.getElementById('detail')?.focus();
    },
    openWith: (mode: Verdict) => {
      const id = openId ?? list.cursor;
      const row = id === null ? undefined : list.row(id);
      if (row === undefined || row.state !== 'pending' || !asksForAnswer(row.type)) return;
      // Not written to the draft at once: the server's draft has to be loaded first, or it would be overwritten.
      early.keep(row.delivery_id, mode);
      if (openId === null) go(row.delivery_id, false);
    },
    back: () => {
      if (list.get().checked.size > 0) return list.dispatch({ kind: 'uncheck' });
      const active = document.activeElement;
      if (active instanceof HTMLInputElement || active instanceof HTMLSelectElement) return toTheRows();
      // First closes the open delivery, then clears the search.
      const search = openId === null ? {} : (old: object) => old;
      void navigate({ to: '/', search: search as never, replace: openId === null });
    },
  };
}
