import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { desk } from '../api/desk.ts';
import { isRefused } from '../api/refused.ts';
import type { CardFields, CardView } from '../api/task-types.ts';
import { Code } from '../detail/Code.tsx';

const PAUSE_MS = 300;

/** Both forms of the card, as they are served now or would be after saving. */
export function CardPreview({
  agent,
  view,
  draft,
}: {
  agent: string;
  view: CardView;
  draft: CardFields | null;
}) {
  const [isOld, setOld] = useState(false);
  const asked = usePaused(useDeferredValue(draft));
  const { data, error } = useQuery({
    queryKey: ['card-preview', agent, asked],
    queryFn: () => desk.previewCard(agent, asked ?? {}),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const shown = draft === null ? view.preview : (data ?? view.preview);
  return (
    <details className="card-preview wide" open={draft !== null || undefined}>
      <summary>{draft === null ? 'As it is served' : 'As it would be served'}</summary>
      <fieldset className="tabs" aria-label="Form of the card">
        <button type="button" aria-pressed={!isOld} onClick={() => setOld(false)}>
          A2A 1.0
        </button>
        <button type="button" aria-pressed={isOld} onClick={() => setOld(true)}>
          0.3 and older
        </button>
      </fieldset>
      {draft !== null && isRefused(error) && <p className="said bad">{error.message}</p>}
      <Code text={JSON.stringify(isOld ? shown.all : shown.v1, null, 2)} language="json" />
    </details>
  );
}

/** The value once it has stopped changing for a moment: a request for every key press would be too many. */
function usePaused<T>(value: T): T {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return paused;
}
