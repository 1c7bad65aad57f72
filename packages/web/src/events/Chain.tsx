import { Link } from '@tanstack/react-router';
import type { ChainLink, EventDetail } from '../api/event-types.ts';
import { Text } from '../detail/Text.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** The event's causes, oldest first, then the event itself, then what it caused. */
export function Chain({ detail }: { detail: EventDetail }) {
  const { causes, effects, agent_id: agent } = detail;
  const isAlone = causes.length === 0 && effects.length === 0;
  return (
    <section className="part" aria-label="Cause and effect">
      <h2>Cause and effect</h2>
      {isAlone && detail.causation_id === null && (
        <p className="said">It names no cause, and nothing has named it as one.</p>
      )}
      {causes.length === 0 && detail.causation_id !== null && (
        <p className="said">
          It names <span className="mono">{detail.causation_id}</span> as its cause, which is not in this
          inbox.
        </p>
      )}
      {!isAlone && (
        <ol className="lines chain">
          {causes.map((link) => (
            <LinkLine key={link.event_id + link.producer_id} word="cause" link={link} agent={agent} />
          ))}
          <li aria-current="true">
            <span className="said">this event</span>
            <span className="mono">
              <Text>{detail.event_type}</Text>
            </span>
          </li>
          {effects.map((link) => (
            <LinkLine key={link.event_id + link.producer_id} word="effect" link={link} agent={agent} />
          ))}
        </ol>
      )}
    </section>
  );
}

function LinkLine({ word, link, agent }: { word: string; link: ChainLink; agent: string }) {
  const now = useNow();
  return (
    <li>
      <span className="said">{word}</span>
      <Link
        to="/events/$agent/$event"
        params={{ agent, event: link.event_id }}
        search={{ producer_id: link.producer_id } as never}
        className="mono reach"
      >
        <Text>{`${link.event_type} ${link.event_id}`}</Text>
      </Link>
      <span className="said">{timeAndDay(link.received_at, now)}</span>
    </li>
  );
}
