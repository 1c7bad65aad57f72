import { useQuery } from '@tanstack/react-query';
import { desk } from '../api/desk.ts';
import { calmly } from '../api/refused.ts';
import { Text } from '../detail/Text.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** What was refused, and why: enough for the developer on the other side to mend it. */
export function Refused({ producer }: { producer: string }) {
  const { data, error } = useQuery({
    queryKey: ['producers', producer, 'refused'],
    queryFn: () => desk.refusedEvents(producer),
    staleTime: 0,
  });
  const now = useNow();
  return (
    <section className="producer-part" aria-label="Refused events">
      <h3>Refused in the last week</h3>
      {error !== null && <p className="said bad">{calmly(error)}</p>}
      {data?.refused.length === 0 && <p className="said">None of its events was refused.</p>}
      <ul className="lines">
        {data?.refused.map((one) => (
          <li key={`${one.at} ${one.event_id}`}>
            <span className="said">{timeAndDay(one.at, now)}</span>
            {one.event_id !== null && (
              <span className="mono">
                <Text>{one.event_id}</Text>
              </span>
            )}
            <span className="refusal">
              {one.status}: <Text>{one.reason}</Text>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
