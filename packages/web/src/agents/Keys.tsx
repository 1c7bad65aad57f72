import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Agent, Key } from '../api/types.ts';
import { Copied } from '../frame/Copied.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

const again = (agent: string) => void asking.invalidateQueries({ queryKey: ['agents', agent] });

export function Keys({ agent, isOwner }: { agent: Agent; isOwner: boolean }) {
  const [made, setMade] = useState<{ key: string; until: string | null } | null>(null);
  const [said, setSaid] = useState('');
  const now = useNow();
  const make = (tier: string, rotate: boolean) => async () => {
    try {
      const { key, others_expire_at } = await desk.addKey(agent.agent_id, { tier, rotate });
      setMade({ key, until: others_expire_at });
      setSaid('');
      again(agent.agent_id);
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  const live = agent.keys.filter((key) => key.revoked_at === null);
  const tier = live[0]?.tier ?? 'live';
  return (
    <section className="part" aria-label="Keys">
      <h2>Keys</h2>
      {made !== null && (
        <div className="once">
          <p>
            The new key, this once.
            {made.until === null
              ? ''
              : ` The others work until ${timeAndDay(made.until, now)}, so that nothing stops meanwhile.`}
          </p>
          <Copied text={made.key} label="Copy the key" />
          <p>
            <button type="button" className="button" onClick={() => setMade(null)}>
              I have kept it
            </button>
          </p>
        </div>
      )}
      <ul className="lines">
        {agent.keys.map((key) => (
          <KeyLine key={key.key_id} agent={agent.agent_id} record={key} isOwner={isOwner} onSaid={setSaid} />
        ))}
      </ul>
      <Trouble of={said} />
      {isOwner && agent.sample !== true && (
        <div className="form-line">
          <button type="button" className="button" onClick={make(tier, true)}>
            Rotate, with overlap
          </button>
          <button type="button" className="button" onClick={make('live', false)}>
            Another live key
          </button>
          <button type="button" className="button" onClick={make('test', false)}>
            Another test key
          </button>
        </div>
      )}
    </section>
  );
}

function KeyLine({
  agent,
  record,
  isOwner,
  onSaid,
}: {
  agent: string;
  record: Key;
  isOwner: boolean;
  onSaid: (text: string) => void;
}) {
  const now = useNow();
  const revoke = async () => {
    try {
      await desk.revokeKey(agent, record.key_id);
      again(agent);
    } catch (error) {
      onSaid(calmly(error));
    }
  };
  const isOver =
    record.revoked_at !== null || (record.expires_at !== null && Date.parse(record.expires_at) < now);
  return (
    <li data-over={isOver || undefined}>
      <span className="mono">
        {record.prefix}…{record.last_four}
      </span>
      <span className="said">made {timeAndDay(record.created_at, now)}</span>
      {record.revoked_at !== null && (
        <span className="said">revoked {timeAndDay(record.revoked_at, now)}</span>
      )}
      {record.revoked_at === null && record.expires_at !== null && (
        <span className="said">until {timeAndDay(record.expires_at, now)}</span>
      )}
      {isOwner && !isOver && <Sure word="Revoke" question="The agent stops at once." onSure={revoke} />}
    </li>
  );
}
