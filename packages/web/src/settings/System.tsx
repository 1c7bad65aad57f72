import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { settingsQuery } from '../api/questions.ts';
import { Trouble } from '../frame/Trouble.tsx';
import { figure } from '../words/numbers.ts';
import { PushTargets } from './PushTargets.tsx';

/** What this server is, and its health. */
export function System() {
  const { data, error } = useQuery(settingsQuery);
  const { data: health } = useQuery({ queryKey: ['ready'], queryFn: askHealth, refetchInterval: LOOK_MS });
  return (
    <>
      {data === undefined && <Trouble of={error} />}
      <dl className="pairs">
        <Pair name="Version" value={data?.version ?? '…'} />
        <Pair name="Address" value={data?.url ?? '…'} />
        <Pair name="Health" value={health === undefined ? '…' : HEALTH[health]} />
        <Pair
          name="Kept for"
          value={data === undefined ? '…' : `${figure(data.retention_days, 'day')} after the answer`}
        />
      </dl>
      {data !== undefined && <PushTargets targets={data.push_targets} isOwner={data.role === 'owner'} />}
      <section className="part" aria-label="Backup">
        <h2>Backup</h2>
        <p className="said">
          On the server’s machine: <code className="mono">lanternroom backup FILE</code> copies while it runs;{' '}
          <code className="mono">lanternroom doctor</code> says what is wrong.
        </p>
      </section>
      <section className="part" aria-label="Records">
        <h2>Records</h2>
        <p className="dotted">
          <Link to="/audit" className="reach">
            Audit
          </Link>
          <Link to="/tasks" className="reach">
            Tasks
          </Link>
          <Link to="/events" className="reach">
            Events
          </Link>
          <a href="/openapi.json" className="reach">
            The API
          </a>
          <a href="/third-party.txt" className="reach">
            Licences
          </a>
        </p>
      </section>
    </>
  );
}

const LOOK_MS = 15_000;

const HEALTH = {
  ready: 'Ready: it accepts and answers requests.',
  busy: 'Not ready: it is starting, stopping, or its store does not answer.',
  away: 'It cannot be reached from here, or does not answer.',
};

/** A missing answer is an answer too: what was true a while ago must not be shown for ever. */
async function askHealth(): Promise<keyof typeof HEALTH> {
  try {
    const { ok } = await fetch('/readyz', { signal: AbortSignal.timeout(LOOK_MS) });
    return ok ? 'ready' : 'busy';
  } catch {
    return 'away';
  }
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div className="pair">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
