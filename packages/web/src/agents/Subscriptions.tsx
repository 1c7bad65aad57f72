import { useQuery } from '@tanstack/react-query';
import { desk } from '../api/desk.ts';
import type { ResumePolicy, Subscription } from '../api/event-types.ts';
import { calmly } from '../api/refused.ts';
import { Text } from '../detail/Text.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { conditions, deliveryWords, resumeWords, typesWords } from './subscription-words.ts';

/**
 * The events that the agent has subscribed to. Only the agent itself can change that, so nothing here is editable.
 */
export function Subscriptions({ agent }: { agent: string }) {
  const { data, error } = useQuery({
    queryKey: ['events', 'subscriptions', agent],
    queryFn: () => desk.subscriptions(agent),
  });
  if (error !== null) return <p className="said bad">{calmly(error)}</p>;
  if (data === undefined) return null;
  return (
    <>
      <p className="said">
        {data.subscriptions.length === 0
          ? 'It has no subscription: no event from outside reaches its inbox until it subscribes over AKEP.'
          : 'What it takes in is its own choice: it subscribes over AKEP.'}
      </p>
      <ul className="lines subscriptions">
        {data.subscriptions.map((one) => (
          <One key={one.subscription_id} one={one} most={data.max_resume_policy} />
        ))}
      </ul>
    </>
  );
}

function One({ one, most }: { one: Subscription; most: ResumePolicy }) {
  const now = useNow();
  const phrases = conditions(one);
  return (
    <li>
      <p className="subscription-types">
        <Text>{typesWords(one.event_types)}</Text>
      </p>
      {phrases.length > 0 && (
        <p>
          Only when{' '}
          {phrases.map((phrase, index) => (
            <span key={phrase}>
              {index > 0 && ' and '}
              <span className="mono">
                <Text>{phrase}</Text>
              </span>
            </span>
          ))}
          .
        </p>
      )}
      <p className="said">
        <Text>{deliveryWords(one)}</Text> {resumeWords(one.furthest_resume, most)}
      </p>
      <p className="said">
        {one.default ? 'The default of a first agent, until it chooses for itself' : 'Asked for'}{' '}
        {timeAndDay(one.created_at, now)}. <span className="mono">{one.subscription_id}</span>
      </p>
    </li>
  );
}
