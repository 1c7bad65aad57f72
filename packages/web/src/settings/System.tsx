import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { settingsQuery } from '../api/questions.ts';
import { PushTargets } from './PushTargets.tsx';

/** What this server is, and how it feels. */
export function System() {
  const { data } = useQuery(settingsQuery);
  const { data: ready } = useQuery({
    queryKey: ['ready'],
    queryFn: async () => (await fetch('/readyz')).ok,
    refetchInterval: 15_000,
  });
  return (
    <>
      <dl className="pairs">
        <Pair name="Version" value={data?.version ?? '…'} />
        <Pair name="Address" value={data?.url ?? '…'} />
        <Pair
          name="Health"
          value={
            ready === undefined
              ? '…'
              : ready
                ? 'Ready: it takes and answers.'
                : 'Not ready: it is starting, stopping, or its store does not answer.'
          }
        />
        <Pair
          name="Kept for"
          value={data === undefined ? '…' : `${data.retention_days} days after the answer`}
        />
      </dl>
      {data !== undefined && <PushTargets targets={data.push_targets} isOwner={data.role === 'owner'} />}
      <section className="part" aria-label="Backup">
        <h2>Backup</h2>
        <p className="said">
          On the server’s machine: <code className="mono">lanternroom backup FOLDER</code> copies while it
          runs; <code className="mono">lanternroom doctor</code> says what is wrong.
        </p>
      </section>
      <section className="part" aria-label="Records">
        <h2>Records</h2>
        <p>
          <Link to="/audit">Audit</Link> · <Link to="/tasks">Tasks</Link> · <Link to="/events">Events</Link> ·{' '}
          <a href="/openapi.json">The API</a>
        </p>
      </section>
    </>
  );
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div className="pair">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
