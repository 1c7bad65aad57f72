import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { desk } from '../api/desk.ts';
import type { EventEntry } from '../api/event-types.ts';
import { inboxQuery } from '../api/questions.ts';
import { isNotThere } from '../api/refused.ts';
import { Text } from '../detail/Text.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { StillNew } from '../frame/StillNew.tsx';
import { useNow } from '../live/now.ts';
import { capital } from '../words/numbers.ts';
import { age, timeAndDay } from '../words/time.ts';
import { ackWords } from './ack-words.ts';
import { inboxWords } from './inbox-words.ts';

/** One inbox, newest first. New entries wait behind a line, so that nothing moves under the cursor. */
export function Entries({ agent }: { agent: string }) {
  const events = usePages({
    key: ['events', 'list', agent],
    ask: (cursor) => desk.events({ agent, cursor }),
    items: (page) => page.events,
  });
  const { shown, arrived, takeIn } = useStill(events.all);
  return (
    <Screen title={`Events for ${agent}`} lead={<Lead agent={agent} />}>
      <StillNew count={arrived} onTakeIn={takeIn} />
      <PageList
        pages={events}
        empty="Nothing has arrived in this inbox. What producers send, and the answers given on this desk, will appear here."
        more="Earlier events"
      >
        <ol className="events">
          {shown.map((entry) => (
            <EntryLine key={entry.offset} entry={entry} />
          ))}
        </ol>
      </PageList>
    </Screen>
  );
}

/**
 * The entries up to the newest that the person has asked to see. An empty list shows new ones at once, because there
 * is nothing to push aside.
 */
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
  const { data: inbox, error } = useQuery(inboxQuery(agent));
  return (
    <>
      {inbox !== undefined && `${capital(inboxWords(inbox))}. `}
      {isNotThere(error) && 'There is no agent with this name. '}
      <Link to="/events">All inboxes</Link>
      {inbox !== undefined && (
        <>
          ,{' '}
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
        className="event-summary agent reach"
      >
        <Text>{entry.summary}</Text>
      </Link>
      <span className="said dotted">
        <span className="mono">
          <Text>{entry.event_type}</Text>
        </span>
        <span>
          from <Text>{entry.source.name}</Text>
        </span>
        <time dateTime={entry.received_at} title={timeAndDay(entry.received_at, now)}>
          {age(entry.received_at, now)}
        </time>
        <span className="event-ack">{ackWords(entry.ack)}</span>
        {entry.out_of_order && <span>out of order</span>}
      </span>
    </li>
  );
}
