import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { inboxesQuery } from '../api/questions.ts';
import { Text } from '../detail/Text.tsx';
import { Screen } from '../frame/Screen.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { Entries } from './Entries.tsx';
import { inboxWords } from './inbox-words.ts';
import { Producers } from './Producers.tsx';
import '../detail/detail.css';
import './events.css';

/** The agents' own inboxes and who sends into them; with `?agent=` the entries of one. */
export function EventsScreen() {
  const { agent } = useSearch({ strict: false }) as { agent?: string };
  if (agent !== undefined && agent !== '') return <Entries key={agent} agent={agent} />;
  return (
    <Screen
      title="Events"
      lead="What the world reports to your agents: each has an inbox of its own, in the order of arrival."
    >
      <Inboxes />
      <Producers />
    </Screen>
  );
}

function Inboxes() {
  const { data, error } = useQuery(inboxesQuery);
  return (
    <section className="part" aria-label="Inboxes">
      <h2>Inboxes</h2>
      <Trouble of={error} />
      {data?.inboxes.length === 0 && (
        <p>
          There is no agent yet, so there is no inbox. <Link to="/agents">Make an agent</Link>, and its inbox
          comes with it.
        </p>
      )}
      <ul className="lines inboxes">
        {data?.inboxes.map((inbox) => (
          <li key={inbox.agent_id}>
            <Link to="/events" search={{ agent: inbox.agent_id } as never} className="inbox-name">
              <Text>{inbox.agent_id}</Text>
            </Link>
            <span className="said">{inboxWords(inbox)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
