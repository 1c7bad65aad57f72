import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { keepOnce } from '../agents/once.ts';
import { desk } from '../api/desk.ts';
import { sessionQuery, settingsQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Copied } from '../frame/Copied.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { list } from './list-store.ts';

/** Three steps on one page: make a key, copy the curl command, see the delivery appear. */
export function FirstRun() {
  const { data: session } = useQuery(sessionQuery);
  const { data: settings } = useQuery(settingsQuery);
  const [made, setMade] = useState<{ agent: string; key: string } | null>(null);
  const [said, setSaid] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const url = settings?.url ?? location.origin;
  const isOwner = session?.person.role === 'owner';

  const { busy, alone } = useAlone(() => setSaid(''));
  const make = async (agent: string) => {
    try {
      const { key, callback_secret: callbackSecret } = await desk.addAgent({ agent_id: agent, tier: 'test' });
      // Whoever has gone to another screen meanwhile finds it on the agent's page.
      if (place.current === null) keepOnce(agent, { key, callbackSecret });
      setMade({ agent, key });
      setSaid('');
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  const sample = async () => {
    try {
      await desk.addSample();
      await list.settle();
    } catch (error) {
      setSaid(calmly(error));
    }
  };

  if (!isOwner)
    return (
      <div className="list-empty">
        <p className="empty-line">Nothing has arrived yet.</p>
        <p className="said">An owner makes the first agent; its deliveries appear here by themselves.</p>
      </div>
    );
  return (
    <div className="first-run" ref={place}>
      <p className="empty-line">Nothing has arrived yet. Three steps bring the first delivery.</p>
      <ol>
        <li>
          <h3>Make a key</h3>
          {made === null ? (
            <MakeKey isBusy={busy} onMake={(agent) => void alone(() => make(agent))} />
          ) : (
            <p className="said">
              The key of <b>{made.agent}</b> is in the line below. It is shown this once.
            </p>
          )}
        </li>
        <li data-waits={made === null || undefined}>
          <h3>Copy this line into a terminal</h3>
          {made === null ? (
            <p className="said">The line is ready as soon as there is a key.</p>
          ) : (
            <Copied text={curl(url, made)} label="Copy the line" isNext />
          )}
        </li>
        <li data-waits={made === null || undefined}>
          <h3>See it appear</h3>
          <p className="said" role="status">
            {made === null
              ? 'It will appear here without a reload.'
              : 'Waiting for the first delivery. This page is listening.'}
          </p>
        </li>
      </ol>
      <p className="said">
        Only looking?{' '}
        <button type="button" className="plain" onClick={() => void alone(sample)}>
          Bring a sample agent
        </button>{' '}
        with a few deliveries, marked as a sample and removed with one click.
      </p>
      <Trouble of={said} />
    </div>
  );
}

function MakeKey({ isBusy, onMake }: { isBusy: boolean; onMake: (agent: string) => void }) {
  const [name, setName] = useState('my-agent');
  return (
    <form
      className="inline-form"
      aria-busy={isBusy}
      onSubmit={(event) => {
        event.preventDefault();
        onMake(name.trim());
      }}
    >
      <input
        className="input"
        aria-label="The agent's name"
        value={name}
        onChange={(event) => setName(event.target.value)}
        required
        maxLength={128}
      />
      <button type="submit" className="button strong">
        Make a test key
      </button>
    </form>
  );
}

export function curl(url: string, { agent, key }: { agent: string; key: string }): string {
  const body = {
    agent_id: agent,
    provider: 'curl',
    type: 'question',
    headline: 'May I begin?',
    summary: 'The first delivery, sent by hand.',
    details: 'Approve this, and poll the answer to see it come back.',
  };
  return `curl -s ${url}/wake/v1/deliver -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
}
