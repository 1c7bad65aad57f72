import { Link, useSearch } from '@tanstack/react-router';
import { desk } from '../api/desk.ts';
import { Text } from '../detail/Text.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { useFind } from '../frame/use-find.tsx';
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
  const { asked, field } = useFind('Find an inbox');
  const inboxes = usePages({
    key: ['events', 'inboxes', { q: asked }],
    ask: (cursor) => desk.inboxes({ q: asked, cursor }),
    items: (page) => page.inboxes,
  });
  return (
    <section className="part" aria-label="Inboxes">
      <h2>Inboxes</h2>
      {field(inboxes.hasNextPage)}
      <PageList
        pages={inboxes}
        empty={
          asked === '' ? (
            <>
              There is no agent yet, so there is no inbox. <Link to="/agents">Make an agent</Link>, and its
              inbox comes with it.
            </>
          ) : (
            'No agent has this in its name.'
          )
        }
        more="More inboxes"
      >
        <ul className="lines inboxes">
          {inboxes.all.map((inbox) => (
            <li key={inbox.agent_id}>
              <Link to="/events" search={{ agent: inbox.agent_id } as never} className="inbox-name">
                <Text>{inbox.agent_id}</Text>
              </Link>
              <span className="said">{inboxWords(inbox)}</span>
            </li>
          ))}
        </ul>
      </PageList>
    </section>
  );
}
