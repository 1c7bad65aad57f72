import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { cardQuery } from '../api/questions.ts';
import type { Agent } from '../api/types.ts';
import { Copied } from '../frame/Copied.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { Callers } from './Callers.tsx';
import { Card } from './Card.tsx';
import { connectionWords } from './presence-words.ts';

/** The agent as A2A callers see it: its address, who may call it, and what its card says. */
export function A2a({ agent, isOwner }: { agent: Agent; isOwner: boolean }) {
  const { data, error } = useQuery(cardQuery(agent.agent_id));
  if (agent.sample === true) return null;
  return (
    <>
      <section className="part" aria-label="Address and connection">
        <h2>Address and connection</h2>
        <p>
          <Presence agent={agent} />{' '}
          <Link to="/tasks" search={{ agent: agent.agent_id } as never}>
            Its tasks
          </Link>
        </p>
        <Trouble of={error} />
        {data !== undefined && (
          <>
            <p className="said">Others call it here, over A2A:</p>
            <Copied text={data.url} label="Copy the address" />
            <p className="said">
              On its own machine, with its key as WAKE_API_KEY; messages wait here while it is asleep:
            </p>
            <Copied text={connectLines(new URL(data.url).origin)} label="Copy the commands" />
          </>
        )}
      </section>
      {data !== undefined && <Callers agent={agent.agent_id} view={data} isOwner={isOwner} />}
      {data !== undefined && <Card agent={agent.agent_id} view={data} isOwner={isOwner} />}
    </>
  );
}

/** Installs from this server, because npx would run whatever a registry has under this name. */
function connectLines(origin: string): string {
  return `npm install -g ${origin}/packages/lantern.tgz\nLANTERN_URL=${origin} lantern connect --exec ./agent.sh`;
}

function Presence({ agent }: { agent: Agent }) {
  const now = useNow();
  return (
    <span className="presence" data-online={agent.online === true ? '' : undefined}>
      {connectionWords(agent, now)}
    </span>
  );
}
