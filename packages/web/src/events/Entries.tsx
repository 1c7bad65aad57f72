import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { desk } from '../api/desk.ts';
import type { EventEntry } from '../api/event-types.ts';
import { inboxesQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Text } from '../detail/Text.tsx';
import { Screen } from '../frame/Screen.tsx';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { useNow } from '../live/now.ts';
import { capital, inWords } from '../words/numbers.ts';
import { age, timeAndDay } from '../words/time.ts';
import { ackWords } from './ack-words.ts';
import { inboxWords } from './inbox-words.ts';

/** One inbox, newest first. What arrives meanwhile waits behind a line, so that nothing moves under the cursor. */
export function Entries({ agent }: { agent: string }) {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['events', 'list', agent],
    queryFn: ({ pageParam }) => desk.events({ agent, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const entries = data?.pages.flatMap((page) => page.events) ?? [];
  const { shown, arrived, takeIn } = useStill(entries);
  useKeys({ take_in: takeIn });
  return (
    <Screen title={`Events for ${agent}`} lead={<Lead agent={agent} />}>
      {error !== null && (
        <p className="said bad" role="alert">
          {calmly(error)}
        </p>
      )}
      {data !== undefined && entries.length === 0 && (
        <p>
          Nothing has arrived in this inbox. What producers send, and the answers given on this desk, will
          stand here.
        </p>
      )}
      <p role="status" className="events-new">
        {arrived > 0 && (
          <button type="button" className="plain" onClick={takeIn}>
            {capital(inWords(arrived))} new — show <Key of="take_in" />
          </button>
        )}
      </p>
      <ol className="events">
        {shown.map((entry) => (
          <EntryLine key={entry.offset} entry={entry} />
        ))}
      </ol>
      {hasNextPage && (
        <p>
          <button
            type="button"
            className="button"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Earlier events
          </button>
        </p>
      )}
    </Screen>
  );
}

/** Entries up to the newest that the person has taken in. Where nothing stands, nothing can be pushed aside. */
function useStill(entries: readonly EventEntry[]) {
  const [top, setTop] = useState<number | null>(null);
  const newest = entries[0]?.offset ?? null;
  useEffect(() => {
    if (top === null && newest !== null) setTop(newest);
  }, [top, newest]);
  const known = top === null ? entries : entries.filter((entry) => entry.offset <= top);
  const shown = known.length === 0 ? entries : known;
  return { shown, arrived: entries.length - shown.length, takeIn: () => setTop(newest) };
}

function Lead({ agent }: { agent: string }) {
  const { data } = useQuery(inboxesQuery);
  const inbox = data?.inboxes.find((one) => one.agent_id === agent);
  return (
    <>
      {inbox !== undefined && `${capital(inboxWords(inbox))}. `}
      {data !== undefined && inbox === undefined && 'There is no agent with this name. '}
      <Link to="/events">All inboxes</Link>
      {inbox !== undefined && (
        <>
          {' '}
          ·{' '}
          <Link to="/agents/$id" params={{ id: agent }}>
            the agent
          </Link>
        </>
      )}
    </>
  );
}

function EntryLine({ entry }: { entry: EventEntry }) {
  const now = useNow();
  return (
    <li data-ack={entry.ack?.status ?? 'none'}>
      <Link
        to="/events/$agent/$event"
        params={{ agent: entry.agent_id, event: entry.event_id }}
        search={{ producer_id: entry.producer_id } as never}
        className="event-summary agent"
      >
        <Text>{entry.summary}</Text>
      </Link>
      <span className="said">
        <span className="mono">
          <Text>{entry.event_type}</Text>
        </span>{' '}
        · from <Text>{entry.source.name}</Text> ·{' '}
        <time dateTime={entry.received_at} title={timeAndDay(entry.received_at, now)}>
          {age(entry.received_at, now)}
        </time>{' '}
        · <span className="event-ack">{ackWords(entry.ack)}</span>
        {entry.out_of_order ? ' · out of order' : ''}
      </span>
    </li>
  );
}
