import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { desk, type EventName } from '../api/desk.ts';
import type { EventDetail } from '../api/event-types.ts';
import { asking, eventQuery, sessionQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Bytes } from '../detail/Bytes.tsx';
import { Text } from '../detail/Text.tsx';
import { Screen } from '../frame/Screen.tsx';
import { NotHad } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { Became } from './Became.tsx';
import { Chain } from './Chain.tsx';
import '../detail/detail.css';
import './events.css';

/** One event in one inbox: what it said, what became of it, and its causes and effects. */
export function EventScreen() {
  const { agent, event } = useParams({ strict: false }) as { agent: string; event: string };
  const { producer_id } = useSearch({ strict: false }) as { producer_id?: string };
  const name = { agent, event, producer: producer_id };
  const { data, error, refetch } = useQuery(eventQuery(name));
  const navigate = useNavigate();
  useKeys({ back: () => void navigate({ to: '/events', search: { agent } as never }) });
  return (
    <Screen
      title="Event"
      lead={
        <>
          In the inbox of{' '}
          <Link to="/events" search={{ agent } as never}>
            <Text>{agent}</Text>
          </Link>
          .
        </>
      }
    >
      {error !== null && data === undefined && (
        <NotHad
          of={error}
          missing="There is no event with this id in this inbox. It may be in another, or its time has passed."
          onAgain={refetch}
        />
      )}
      {data === undefined && error === null && <p className="said">One moment…</p>}
      {data !== undefined && <One name={name} detail={data} />}
    </Screen>
  );
}

function One({ name, detail }: { name: EventName; detail: EventDetail }) {
  const path = desk.eventRawPath(name);
  return (
    <>
      <Said detail={detail} />
      <Became name={name} detail={detail} />
      <Replay name={name} />
      <Chain detail={detail} />
      <section className="part exact" aria-label="Envelope">
        <h2>Envelope</h2>
        <p className="said">
          Exactly what the agent reads.{' '}
          <a href={path} download>
            Save it
          </a>
        </p>
        <div className="full">
          <Bytes path={path} />
        </div>
      </section>
    </>
  );
}

function Said({ detail }: { detail: EventDetail }) {
  const now = useNow();
  const facts: [string, string][] = [
    ['Type', detail.event_type],
    ['Source', `${detail.source.name}, a ${detail.source.type}`],
    ['Producer', detail.producer_id],
    ['Event', detail.event_id],
    ...(detail.task_id === null ? [] : [['Task', detail.task_id] as [string, string]]),
  ];
  return (
    <div className="event-said">
      <p className="event-words agent">
        <Text>{detail.summary}</Text>
      </p>
      <dl className="facts">
        {facts.map(([word, value]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd className="mono">
              <Text>{value}</Text>
            </dd>
          </div>
        ))}
        <div>
          <dt>Received</dt>
          <dd>
            {timeAndDay(detail.received_at, now)}
            {detail.out_of_order ? ', out of order: its cause had not arrived' : ''}
          </dd>
        </div>
      </dl>
    </div>
  );
}

function Replay({ name }: { name: EventName }) {
  const { data: session } = useQuery(sessionQuery);
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  if (session === undefined) return null;
  if (session.person.role === 'reader')
    return <p className="said">You can read here. Replaying needs the role decider; an owner can give it.</p>;
  const replay = async () => {
    try {
      const { offset } = await desk.replay(name);
      setSaid(`It is at the end of the inbox once more, at offset ${offset}. Nothing was resumed by that.`);
    } catch (error) {
      setSaid(calmly(error));
    } finally {
      void asking.invalidateQueries({ queryKey: ['events'] });
    }
  };
  return (
    <div className="form-line">
      <button type="button" className="button" aria-disabled={busy} onClick={() => void alone(replay)}>
        Replay
      </button>
      <p className="said" role="status">
        {said === '' ? 'Puts it once more at the end of this inbox. Nothing is resumed by that.' : said}
      </p>
    </div>
  );
}
