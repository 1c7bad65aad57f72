import { useSyncExternalStore } from 'react';
import { kept } from '../api/request.ts';
import { Key } from '../keys/Key.tsx';
import { useNow } from '../live/now.ts';
import { line } from '../live/stream.ts';
import { capital, inWords } from '../words/numbers.ts';
import { clock, moment } from '../words/time.ts';
import type { ListState } from './list-state.ts';
import { list } from './list-store.ts';
import { useList } from './use-list.ts';

/** How fresh the list is, and what has arrived since. Its height is constant, so that nothing below moves. */
export function ListStrip({ onTakeIn }: { onTakeIn: () => void }) {
  const state = useList();
  const count = state.arrivals.length;
  return (
    <div className="list-strip" role="status">
      {count > 0 && !state.stale ? (
        <button type="button" className="arrivals" onClick={onTakeIn}>
          {capital(inWords(count))} new — show <Key of="take_in" />
        </button>
      ) : (
        <Freshness state={state} />
      )}
    </div>
  );
}

function Freshness({ state }: { state: ListState }) {
  const connected = useSyncExternalStore(line.subscribe, line.connected);
  const keptAt = useSyncExternalStore(kept.subscribe, kept.at);
  const now = useNow();
  if (keptAt !== null)
    return (
      <p className="said warn">
        {navigator.onLine ? 'The server does not answer.' : 'You are offline.'} This is the list as it was at{' '}
        {moment(keptAt, now)}.
      </p>
    );
  if (state.loadedAt === null) return null;
  if (state.stale)
    return (
      <p className="said warn">
        Could not refresh. Showing what we had at {clock(state.loadedAt)}.{' '}
        <button type="button" className="plain" onClick={() => void list.settle()}>
          Try again
        </button>
      </p>
    );
  if (!connected) return <p className="said warn">Live updates are interrupted. Trying again…</p>;
  if (!state.complete)
    return <p className="said">The newest deliveries are not in the search yet. Looking again…</p>;
  if (state.entries.length === 0) return null;
  return <p className="said">In this order since {clock(state.loadedAt)}.</p>;
}
