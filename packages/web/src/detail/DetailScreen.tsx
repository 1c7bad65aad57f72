import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { deliveryQuery } from '../api/questions.ts';
import { calmly, isNotThere } from '../api/refused.ts';
import { useEarlyVerdict } from '../composer/early.ts';
import { neighbour, nextWaiting } from '../inbox/list-state.ts';
import { list } from '../inbox/list-store.ts';
import { useList } from '../inbox/use-list.ts';
import { Key } from '../keys/Key.tsx';
import { keysAreOff } from '../keys/keyboard.ts';
import { VERDICT_WORDS } from '../words/delivery.ts';
import { Delivery } from './Delivery.tsx';
import { Headline } from './Headline.tsx';
import { Strip } from './Strip.tsx';
import './detail.css';

/** The right half of the inbox. Shows what the list already knows at once; the rest follows. */
export function DetailScreen() {
  const { id } = useParams({ from: '/desk/inbox/d/$id' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data, error } = useQuery(deliveryQuery(id));
  const early = useEarlyVerdict(id, data);
  const onSent = (sent: string) => {
    const next = nextWaiting(list.get(), sent);
    if (next === null) {
      void navigate({ to: '/', search: ((old: object) => old) as never });
      return;
    }
    list.setCursor(next);
    void client.prefetchQuery(deliveryQuery(next));
    void navigate({ to: '/d/$id', params: { id: next }, search: ((old: object) => old) as never });
    requestAnimationFrame(() => document.getElementById('detail')?.focus({ preventScroll: true }));
  };
  useEffect(() => {
    const pane = document.getElementById('detail');
    pane?.scrollTo(0, 0);
    // On a narrow screen the delivery is alone, so it takes the focus; beside the list, the focus stays in the list.
    if (id !== '' && !matchMedia('(min-width: 1080px)').matches) pane?.focus({ preventScroll: true });
  }, [id]);

  // Most people continue downwards, so the next delivery is loaded in advance.
  const isHere = data !== undefined;
  useEffect(() => {
    const below = neighbour(list.get().entries, id, 1);
    if (isHere && below !== null && below !== id) void client.prefetchQuery(deliveryQuery(below));
  }, [isHere, id, client]);

  const row = list.row(id);
  return (
    <article id="detail" className="detail" tabIndex={-1} aria-label="Delivery">
      <Link to="/" search={((old: object) => old) as never} className="back-link">
        ← Inbox
      </Link>
      {data !== undefined && <Delivery key={id} detail={data} onSent={onSent} />}
      {data === undefined && error === null && row !== undefined && (
        <div className="detail-inside">
          <Strip detail={row} />
          <Headline row={row} />
          <p className={early === null ? 'said late' : 'said'} role="status">
            {early === null
              ? 'One moment…'
              : `${VERDICT_WORDS[early]} is chosen as soon as all of it is here. Nothing is sent by that.`}
          </p>
        </div>
      )}
      {data === undefined && error !== null && (
        <div className="detail-inside">
          <p>
            {isNotThere(error)
              ? 'There is no delivery with this id. It may have been removed when its time had passed.'
              : calmly(error)}
          </p>
          {!isNotThere(error) && (
            <p>
              <button
                type="button"
                className="button"
                onClick={() => void client.refetchQueries({ queryKey: ['delivery', id] })}
              >
                Try again
              </button>
            </p>
          )}
        </div>
      )}
    </article>
  );
}

/** Shown beside the list while no delivery is open. */
export function NothingOpen() {
  const hasRows = useList().entries.length > 0;
  return (
    <div className="detail nothing-open">
      <p className="said">
        {hasRows ? 'Choose something on the left.' : 'What you open is read here.'}
        {hasRows && !keysAreOff() && (
          <>
            <br />
            <Key of="next" /> and <Key of="previous" /> move, <Key of="open" /> opens, <Key of="help" /> shows
            every key.
          </>
        )}
      </p>
    </div>
  );
}
