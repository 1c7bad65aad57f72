import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { useNow } from '../live/now.ts';
import { SECTION_WORDS } from '../words/delivery.ts';
import { moment } from '../words/time.ts';
import { DeliveryRow } from './DeliveryRow.tsx';
import { type Item, listItems } from './list-items.ts';
import { list } from './list-store.ts';
import { useCursor, useList } from './use-list.ts';

const SIZE = { heading: 44, tide: 24, row: 96 };

type Props = { openId: string | null; satAt: string | null };

/** A virtual list: ten thousand deliveries cost as much as thirty. */
export function DeliveryList({ openId, satAt }: Props) {
  const state = useList();
  const cursor = useCursor() ?? openId;
  const now = useNow();
  const scroller = useRef<HTMLElement>(null);
  const items = useMemo(() => listItems(state, satAt), [state, satAt]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => SIZE[items[index]?.kind ?? 'row'],
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    initialOffset: list.scrollTop,
  });
  const check = useCallback((id: string) => list.dispatch({ kind: 'check', id }), []);
  const shown = virtual.getVirtualItems();

  const last = shown.at(-1)?.index ?? 0;
  const { next } = state;
  useEffect(() => {
    // On paper nothing scrolls, so the end is always in sight, and this would load everything.
    if (next !== null && last >= items.length - 20 && !matchMedia('print').matches) list.more();
  }, [last, items.length, next]);

  const at = items.findIndex((item) => item.kind === 'row' && item.id === cursor);
  useLayoutEffect(() => {
    if (at > 0) virtual.scrollToIndex(at, { align: 'auto' });
    else if (at === 0) virtual.scrollToIndex(0);
  }, [at, virtual]);

  const { shown: wanted } = state;
  const before = useRef(wanted);
  useLayoutEffect(() => {
    // Once for each time it is asked for: whoever comes back to this screen finds the list as they left it.
    if (wanted === null || wanted === before.current) return;
    before.current = wanted;
    virtual.scrollToIndex(topOf(items, wanted), { align: 'start' });
  }, [wanted, items, virtual]);

  return (
    <section
      ref={scroller}
      className="list-scroll"
      aria-label="Deliveries"
      onScroll={(event) => {
        list.scrollTop = event.currentTarget.scrollTop;
      }}
    >
      <div className="list-all" style={{ height: virtual.getTotalSize() }}>
        {shown.map((place) => {
          const item = items[place.index];
          if (item === undefined) return null;
          return (
            <div
              key={place.key}
              ref={virtual.measureElement}
              data-index={place.index}
              className="list-place"
              style={{ transform: `translateY(${place.start}px)` }}
            >
              <OneItem
                item={item}
                {...{ openId, cursor, stop: cursor ?? firstRow(items), now, satAt, check }}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** Before any row was chosen, Tab must still reach one. */
const firstRow = (items: readonly Item[]) => items.find((item) => item.kind === 'row')?.key ?? null;

/** The index of a row, or of the heading above it. */
function topOf(items: readonly Item[], id: string): number {
  const at = items.findIndex((item) => item.kind === 'row' && item.id === id);
  return items[at - 1]?.kind === 'row' ? at : Math.max(0, at - 1);
}

type ItemProps = {
  item: Item;
  openId: string | null;
  cursor: string | null;
  stop: string | null;
  now: number;
  satAt: string | null;
  check: (id: string) => void;
};

function OneItem({ item, openId, cursor, stop, now, satAt, check }: ItemProps) {
  const state = list.get();
  if (item.kind === 'heading')
    return (
      <h2 className="list-heading">
        {item.section === 'found' ? 'Found, newest first' : SECTION_WORDS[item.section]}
      </h2>
    );
  if (item.kind === 'tide')
    return (
      <p className="tide">
        <span>since you last sat, {satAt === null ? '' : moment(satAt, now)}</span>
      </p>
    );
  const row = state.rows[item.id];
  if (row === undefined) return null;
  return (
    <DeliveryRow
      row={row}
      now={now}
      isCursor={cursor === item.id}
      isStop={stop === item.id}
      isOpen={openId === item.id}
      isChecked={state.checked.has(item.id)}
      isDimmed={item.section === 'earlier'}
      onCheck={check}
    />
  );
}
