import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { overviewQuery } from '../api/questions.ts';
import { preloadMarkdown } from '../detail/Markdown.tsx';
import { DeliveryList } from './DeliveryList.tsx';
import { FirstRun } from './FirstRun.tsx';
import { list } from './list-store.ts';
import { useList } from './use-list.ts';

/** The list, or a sentence in its place. */
export function ListBody({ openId }: { openId: string | null }) {
  const state = useList();
  const { data, isPending } = useQuery(overviewQuery);
  useEffect(preloadMarkdown, []);
  if (state.phase === 'loading' || (state.entries.length === 0 && isPending)) return <Skeleton />;
  if (state.phase === 'failed') return <Failed why={state.trouble} />;
  if (state.entries.length > 0) return <DeliveryList openId={openId} satAt={data?.sat_at ?? null} />;
  const isFiltered = Object.values(state.filter).some((value) => value !== undefined);
  if (isFiltered)
    return <p className="list-empty said">Nothing matches. Fewer words or filters may find more.</p>;
  return data?.deliveries_ever === 0 || data === undefined ? (
    <FirstRun />
  ) : (
    <p className="list-empty said">What arrives from now on appears here.</p>
  );
}

function Failed({ why }: { why: string }) {
  return (
    <div className="list-empty">
      <p>The list could not be loaded.</p>
      <p className="said">{why}</p>
      <p>
        <button type="button" className="button" onClick={() => void list.settle()}>
          Try again
        </button>
      </p>
    </div>
  );
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** On the first load only. */
function Skeleton() {
  return (
    <div className="skeleton" role="status">
      <span className="unseen">Loading the list.</span>
      {LINES.map((key) => (
        <div key={key} className="skeleton-row" />
      ))}
    </div>
  );
}
