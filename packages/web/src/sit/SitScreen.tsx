import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { desk, type Page } from '../api/desk.ts';
import { deliveryQuery } from '../api/questions.ts';
import { calmly, isNotThere } from '../api/refused.ts';
import type { Row, Section } from '../api/types.ts';
import { useEarlyVerdict } from '../composer/early.ts';
import { Delivery } from '../detail/Delivery.tsx';
import { gotUp } from '../frame/sat.ts';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { useNow } from '../live/now.ts';
import { isAsleep, VERDICT_WORDS } from '../words/delivery.ts';
import { minutesLeft, progressWords } from './progress.ts';
import '../detail/detail.css';
import './sit.css';

const PAGE = 200;

/** One delivery at a time, in the order of the desk. What arrives in the meantime waits for the next sitting. */
export function SitScreen() {
  const { data, error, refetch } = useQuery({
    queryKey: ['sitting'],
    queryFn: async () => {
      const [first, second] = await Promise.all([everythingIn('needs_you'), everythingIn('new_agents')]);
      return [...first, ...second].filter((row) => row.state === 'pending');
    },
    // Once loaded, the list is never loaded again: places are counted by number, and one delivery would be skipped.
    staleTime: (query) => (query.state.data === undefined ? 0 : 'static'),
    gcTime: 0,
  });
  const [at, setAt] = useState(0);
  const count = data?.length ?? 0;
  const isOver = data !== undefined && at >= count;
  useEffect(() => {
    if (isOver && count > 0) void gotUp();
  }, [isOver, count]);
  if (error !== null)
    return (
      <div className="sit">
        <div className="sit-end">
          <p role="alert">{calmly(error)}</p>
          <p>
            <button type="button" className="button" onClick={() => void refetch()}>
              Try again
            </button>
          </p>
        </div>
      </div>
    );
  if (data === undefined) return <NotYet />;
  if (isOver) return <TheEnd rows={data} onBack={count > 0 ? () => setAt(count - 1) : undefined} />;
  return <Sitting rows={data} at={at} onMove={setAt} />;
}

async function everythingIn(section: Section): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await desk.deliveries({ section, limit: PAGE, cursor });
    rows.push(...page.deliveries);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** The first delivery is not known yet, so a verdict key can mean nothing, and pressing one says so. */
function NotYet() {
  const [pressed, setPressed] = useState(false);
  const say = () => setPressed(true);
  useKeys({ approve: say, redirect: say, reject: say });
  return (
    <div className="sit">
      <p className="sit-end said" role="status">
        {pressed ? 'One moment. There is nothing here to answer yet.' : 'One moment…'}
      </p>
    </div>
  );
}

/** Whether something of this sitting was left for later, or taken back. It was all open, so its state is known here. */
function useLeft(rows: readonly Row[]): boolean {
  const now = useNow();
  return useQueries({
    queries: rows.map(({ delivery_id }) => ({ ...deliveryQuery(delivery_id), enabled: false })),
    combine: (all) => all.some(({ data }) => data?.state === 'pending' && !isAsleep(data, now)),
  });
}

function TheEnd({ rows, onBack }: { rows: readonly Row[]; onBack: (() => void) | undefined }) {
  useKeys(onBack === undefined ? {} : { previous: onBack });
  const hasLeft = useLeft(rows);
  return (
    <div className="sit">
      <div className="sit-end">
        <h1>{rows.length > 0 ? 'That’s everything.' : 'Nothing needs you.'}</h1>
        {hasLeft && <p className="said">What you left for later or took back still waits in the inbox.</p>}
        <p className="said">What arrives from now on waits for your next sitting.</p>
        <p>
          <Link to="/">To the inbox</Link>
        </p>
      </div>
    </div>
  );
}

function Sitting({ rows, at, onMove }: { rows: Row[]; at: number; onMove: (at: number) => void }) {
  const id = rows[at]?.delivery_id ?? '';
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(deliveryQuery(id));
  const early = useEarlyVerdict(id, data);
  const following = rows[at + 1]?.delivery_id;
  useEffect(() => {
    if (following !== undefined) void client.prefetchQuery(deliveryQuery(following));
    document.getElementById('detail')?.scrollTo(0, 0);
    document.getElementById('detail')?.focus({ preventScroll: true });
  }, [following, client]);
  const [place, rest] = progressWords(at, rows.length, minutesLeft(rows.slice(at)));
  const navigate = useNavigate();
  const move = (step: number) => onMove(Math.max(0, at + step));
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    back: () => void navigate({ to: '/' }),
  });
  return (
    <div className="sit">
      <header className="sit-line">
        <h1 className="dotted">
          <span>{place}</span> <span>{rest}</span>
        </h1>
        <div>
          <button type="button" className="plain" aria-disabled={at === 0} onClick={() => move(-1)}>
            Back <Key of="previous" />
          </button>
          <button type="button" className="plain" onClick={() => move(1)}>
            Leave it for later <Key of="next" />
          </button>
        </div>
      </header>
      <article id="detail" className="detail" tabIndex={-1} aria-label="Delivery">
        {data !== undefined && <Delivery key={id} detail={data} onSent={() => move(1)} />}
        {data === undefined && error === null && (
          <div className="detail-inside">
            <p className="said" role="status">
              {early === null
                ? 'One moment…'
                : `${VERDICT_WORDS[early]} is chosen as soon as it is here. Nothing is sent by that.`}
            </p>
          </div>
        )}
        {data === undefined && error !== null && (
          <div className="detail-inside">
            <p role="alert">
              {isNotThere(error)
                ? 'It has been removed in the meantime. Go on with the next one.'
                : calmly(error)}
            </p>
            <p>
              <button
                type="button"
                className="button"
                onClick={() => (isNotThere(error) ? move(1) : void refetch())}
              >
                {isNotThere(error) ? 'The next one' : 'Try again'}
              </button>
            </p>
          </div>
        )}
      </article>
    </div>
  );
}
