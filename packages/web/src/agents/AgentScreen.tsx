import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { agentQuery, inboxQuery, sessionQuery } from '../api/questions.ts';
import type { Agent, AgentStats } from '../api/types.ts';
import { inboxWords } from '../events/inbox-words.ts';
import { Copied } from '../frame/Copied.tsx';
import { Screen } from '../frame/Screen.tsx';
import { NotHad } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { capital, plural } from '../words/numbers.ts';
import { span, timeAndDay } from '../words/time.ts';
import { A2a } from './A2a.tsx';
import { Callbacks } from './Callbacks.tsx';
import { callbackHealth } from './callback-health.ts';
import { Keys } from './Keys.tsx';
import { forgetOnce, type Once, takeOnce } from './once.ts';
import { Prompt } from './Prompt.tsx';
import { Subscriptions } from './Subscriptions.tsx';
import './agents.css';

export function AgentScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery(agentQuery(id));
  const { data: session } = useQuery(sessionQuery);
  const isOwner = session?.person.role === 'owner';
  // A later question that failed must not take away the screen, and with it what is being written there.
  if (error !== null && data === undefined)
    return (
      <Screen title={id}>
        <NotHad of={error} missing="There is no agent with this name." onAgain={refetch} />
        <p>
          <Link to="/agents">All agents</Link>
        </p>
      </Screen>
    );
  if (data === undefined)
    return (
      <Screen title={id}>
        <p className="said">One moment…</p>
      </Screen>
    );
  return (
    <Screen title={data.agent_id} lead={<Lead agent={data} />}>
      <ShownOnce agent={id} />
      <FirstDelivery agent={data} />
      {data.stats !== undefined && <Stats agent={data} stats={data.stats} />}
      <Keys agent={data} isOwner={isOwner} />
      <Callbacks agent={data} isOwner={isOwner} />
      <Prompt agent={id} />
      <Inbox agent={id} />
      <A2a agent={data} isOwner={isOwner} />
    </Screen>
  );
}

function Inbox({ agent }: { agent: string }) {
  const { data: inbox } = useQuery(inboxQuery(agent));
  return (
    <section className="part" aria-label="Inbox and subscriptions">
      <h2>Inbox and subscriptions</h2>
      {inbox !== undefined && <p>{capital(inboxWords(inbox))}.</p>}
      <p>
        <Link to="/events" search={{ agent } as never}>
          Its events
        </Link>
      </p>
      <Subscriptions agent={agent} />
    </section>
  );
}

function Lead({ agent }: { agent: Agent }) {
  const now = useNow();
  const seen =
    agent.last_seen_at === null
      ? 'It has never been seen.'
      : `Last seen ${timeAndDay(agent.last_seen_at, now)}.`;
  const state = agent.online === true ? 'It is connected now.' : seen;
  return (
    <>
      Made {timeAndDay(agent.created_at, now)}. {state}
      {agent.sample === true ? ' It is a sample.' : ''}{' '}
      <Link to="/" search={{ agent: agent.agent_id } as never}>
        Its deliveries
      </Link>
      ,{' '}
      <Link to="/history" search={{ agent: agent.agent_id } as never}>
        its history
      </Link>
    </>
  );
}

function Stats({ agent, stats }: { agent: Agent; stats: AgentStats }) {
  const median = stats.median_answer_seconds;
  return (
    <p>
      <Link to="/" search={{ agent: agent.agent_id } as never}>
        {stats.waiting === 0
          ? 'Nothing waits'
          : `${capital(plural(stats.waiting, 'delivery waits', 'deliveries wait'))}`}
      </Link>
      .{' '}
      {stats.answered_week === 0
        ? 'No answers this week.'
        : `${capital(plural(stats.answered_week, 'answer'))} this week${median === null ? '' : `, half of them within ${span(median)}`}.`}{' '}
      {capital(callbackHealth(stats.callbacks_failing, agent.callbacks.length > 0))}.
    </p>
  );
}

/**
 * Shows the new key and secret, this once: they are gone when the person leaves the page or says that they are kept.
 */
function ShownOnce({ agent }: { agent: string }) {
  const [once, setOnce] = useState<Once | null>(() => takeOnce(agent));
  if (once === null) return null;
  const done = () => {
    forgetOnce(agent);
    setOnce(null);
  };
  return (
    <section className="once" aria-label="Shown once">
      <p>These are shown this once and never again. Put them where the agent finds them.</p>
      {once.key !== undefined && (
        <>
          <h3>Key, as WAKE_API_KEY</h3>
          <Copied text={once.key} label="Copy the key" />
        </>
      )}
      {once.callbackSecret !== undefined && (
        <>
          <h3>Callback secret, as WAKE_WEBHOOK_SECRET</h3>
          <Copied text={once.callbackSecret} label="Copy the secret" />
        </>
      )}
      <p>
        <button type="button" className="button" onClick={done}>
          I have kept them
        </button>
      </p>
    </section>
  );
}

const hasDelivered = ({ last_seen_at, accepted_at, waiting = 0 }: Agent) =>
  last_seen_at !== null || accepted_at !== null || waiting > 0;

function FirstDelivery({ agent }: { agent: Agent }) {
  const [wasWaiting] = useState(!hasDelivered(agent));
  if (!wasWaiting) return null;
  if (!hasDelivered(agent))
    return (
      <p className="waiting-first" role="status">
        Waiting for the first delivery. This page is listening.
      </p>
    );
  return (
    <p className="waiting-first" role="status">
      The first delivery is here.{' '}
      <Link to="/" search={{ agent: agent.agent_id } as never}>
        Look at it
      </Link>
    </p>
  );
}
