import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, sessionQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Agent, AgentStats } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Field } from '../entry/Field.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Said } from '../frame/Said.tsx';
import { Screen } from '../frame/Screen.tsx';
import { ToForm } from '../frame/ToForm.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useFind } from '../frame/use-find.tsx';
import { useNow } from '../live/now.ts';
import { plural } from '../words/numbers.ts';
import { span } from '../words/time.ts';
import { callbackHealth } from './callback-health.ts';
import { keepOnce } from './once.ts';
import { presenceWords } from './presence-words.ts';
import './agents.css';

export function AgentsScreen() {
  const { asked, field } = useFind('Find an agent');
  const agents = usePages({
    key: ['agents', { q: asked }],
    ask: (cursor) => desk.agents({ q: asked, cursor }),
    items: (page) => page.agents,
  });
  const { data: session } = useQuery(sessionQuery);
  const isOwner = session?.person.role === 'owner';
  const [first] = agents.pages;
  return (
    <Screen
      title="Agents"
      lead={
        <>
          Programs that deliver here. Each has its own keys, and a key can never decide. What others ask of
          them are their <Link to="/tasks">tasks</Link>; what the world reports to them, their{' '}
          <Link to="/events">events</Link>.
        </>
      }
    >
      {field(agents.hasNextPage)}
      {isOwner && (
        <ToForm past={agents.all.length} field={NEW_AGENT}>
          Make a new agent
        </ToForm>
      )}
      <PageList
        pages={agents}
        empty={
          asked === ''
            ? `There is no agent yet. ${isOwner ? 'Make the first one below.' : 'An owner makes the first one.'}`
            : 'No agent has this in its name.'
        }
        more="More agents"
      >
        <ul className="lines agents">
          {agents.all.map((agent) => (
            <AgentLine key={agent.agent_id} agent={agent} />
          ))}
        </ul>
      </PageList>
      {isOwner && !agents.isPending && <NewAgent />}
      {isOwner && first !== undefined && <Sample has={first.has_sample} />}
    </Screen>
  );
}

/** A name that is longer has a line of its own, instead of four in its column. */
const ONE_LINE = 28;

function AgentLine({ agent }: { agent: Agent }) {
  const now = useNow();
  const waiting = agent.waiting ?? 0;
  return (
    <li data-long={agent.agent_id.length > ONE_LINE || undefined}>
      <span className="agent-name">
        <Link to="/agents/$id" params={{ id: agent.agent_id }}>
          <Text>{agent.agent_id}</Text>
        </Link>
        {agent.sample === true && <span className="said"> sample</span>}
        {agent.accepted_at === null && <span className="said"> new here</span>}
      </span>
      <span className={agent.online === true ? 'said agent-online' : 'said'}>
        {presenceWords(agent, now)}
      </span>
      <span className="said">
        {waiting === 0 ? 'nothing waits' : `${plural(waiting, 'delivery', 'deliveries')} waiting`}
      </span>
      {agent.stats !== undefined && (
        <StatWords stats={agent.stats} hasCallbacks={agent.callbacks.length > 0} />
      )}
    </li>
  );
}

function StatWords({ stats, hasCallbacks }: { stats: AgentStats; hasCallbacks: boolean }) {
  const { median_answer_seconds: median, callbacks_failing: failing } = stats;
  return (
    <>
      <span className="said">
        {median === null ? 'no answer yet' : `half of the answers within ${span(median)}`}
      </span>
      <span className={failing === 0 ? 'said' : 'said bad'}>{callbackHealth(failing, hasCallbacks)}</span>
    </>
  );
}

const NEW_AGENT = 'new-agent-name';

/**
 * After making an agent the person is on its page, with its key shown once and its prompt ready. Whoever has gone to
 * another screen meanwhile stays there, and finds the key when they come to that page.
 */
function NewAgent() {
  const place = useRef<HTMLElement>(null);
  const [name, setName] = useState('');
  const [tier, setTier] = useState('live');
  const [said, setSaid] = useState('');
  const navigate = useNavigate();
  const { busy, alone } = useAlone(() => setSaid(''));
  const make = async () => {
    try {
      const made = await desk.addAgent({ agent_id: name.trim(), tier });
      keepOnce(made.agent_id, { key: made.key, callbackSecret: made.callback_secret });
      if (place.current !== null) await navigate({ to: '/agents/$id', params: { id: made.agent_id } });
    } catch (error) {
      setSaid(calmly(error));
    } finally {
      void asking.invalidateQueries({ queryKey: ['agents'] });
    }
  };
  return (
    <section className="part" aria-label="A new agent" ref={place}>
      <h2>A new agent</h2>
      <form
        className="form"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(make);
        }}
      >
        <Field
          id={NEW_AGENT}
          label="Name"
          value={name}
          onText={setName}
          required
          maxLength={128}
          hint="As it will sign its deliveries, for example release-notes."
        />
        <div className="field">
          <label htmlFor="tier">Key</label>
          <select id="tier" className="input" value={tier} onChange={(event) => setTier(event.target.value)}>
            <option value="live">live: for real work</option>
            <option value="test">test: fewer deliveries, marked as a test</option>
          </select>
        </div>
        <Trouble of={said} />
        <button type="submit" className="button strong">
          Make it
        </button>
      </form>
    </section>
  );
}

function Sample({ has }: { has: boolean }) {
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  const turn = async () => {
    try {
      await (has ? desk.removeSample() : desk.addSample());
      setSaid(has ? 'The sample is gone.' : 'The sample agent has delivered; look into the inbox.');
      void asking.invalidateQueries();
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  return (
    <section className="part" aria-label="A sample">
      <h2>A sample</h2>
      <p className="said">
        {has
          ? 'A sample agent is here. It is marked wherever it shows, and leaves no trace in your work.'
          : 'Only looking? A sample agent brings a few deliveries, clearly marked.'}
      </p>
      <button type="button" className="button" aria-busy={busy} onClick={() => void alone(turn)}>
        {has ? 'Remove the sample agent' : 'Bring a sample agent'}
      </button>
      <Said>{said}</Said>
    </section>
  );
}
