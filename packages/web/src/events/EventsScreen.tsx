import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { desk } from '../api/desk.ts';
import type { InboxLine } from '../api/event-types.ts';
import { producersQuery, sessionQuery } from '../api/questions.ts';
import { Text } from '../detail/Text.tsx';
import { PageList, type Pages, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { ToForm } from '../frame/ToForm.tsx';
import { useFind } from '../frame/use-find.tsx';
import { Entries } from './Entries.tsx';
import { inboxWords } from './inbox-words.ts';
import { NEW_PRODUCER, Producers } from './Producers.tsx';
import '../detail/detail.css';
import './events.css';

/** The agents' inboxes, and the producers that send to them; with `?agent=`, the entries of one inbox. */
export function EventsScreen() {
  const { agent } = useSearch({ strict: false }) as { agent?: string };
  if (agent !== undefined && agent !== '') return <Entries key={agent} agent={agent} />;
  return <InboxesAndProducers />;
}

function InboxesAndProducers() {
  const { asked, field } = useFind('Find an inbox');
  const inboxes = usePages({
    key: ['events', 'inboxes', { q: asked }],
    ask: (cursor) => desk.inboxes({ q: asked, cursor }),
    items: (page) => page.inboxes,
  });
  const { data: session } = useQuery(sessionQuery);
  const { data: known } = useQuery(producersQuery);
  return (
    <Screen
      title="Events"
      lead="What the world reports to your agents: each has an inbox of its own, in the order of arrival."
    >
      {session?.person.role === 'owner' && (
        <ToForm past={inboxes.all.length + (known?.producers.length ?? 0)} field={NEW_PRODUCER}>
          Make a new producer
        </ToForm>
      )}
      <section className="part" aria-label="Inboxes">
        <h2>Inboxes</h2>
        {field(inboxes.hasNextPage)}
        <Inboxes inboxes={inboxes} isNarrowed={asked !== ''} />
      </section>
      <Producers />
    </Screen>
  );
}

function Inboxes({ inboxes, isNarrowed }: { inboxes: Pages<InboxLine>; isNarrowed: boolean }) {
  return (
    <PageList
      pages={inboxes}
      empty={
        isNarrowed ? (
          'No agent has this in its name.'
        ) : (
          <>
            There is no agent yet, so there is no inbox. <Link to="/agents">Make an agent</Link>, and its
            inbox comes with it.
          </>
        )
      }
      more="More inboxes"
    >
      <ul className="lines inboxes">
        {inboxes.all.map((inbox) => (
          <li key={inbox.agent_id}>
            <Link to="/events" search={{ agent: inbox.agent_id } as never} className="inbox-name reach">
              <Text>{inbox.agent_id}</Text>
            </Link>
            <span className="said">{inboxWords(inbox)}</span>
          </li>
        ))}
      </ul>
    </PageList>
  );
}
