import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Caller, CardView } from '../api/task-types.ts';
import { Text } from '../detail/Text.tsx';
import { Field } from '../entry/Field.tsx';
import { Once } from '../frame/Once.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

const WHO: Record<CardView['card']['visibility'], string> = {
  space:
    'Agents and people of this space may call it. Tokens of callers from outside wait until it is listed.',
  listed: 'Agents and people of this space may call it, and callers with a token.',
  public: 'Everybody may call it; callers without a key are held to a low rate.',
};

export function Callers({ agent, view, isOwner }: { agent: string; view: CardView; isOwner: boolean }) {
  const key = ['agents', agent, 'callers'];
  const { data, error } = useQuery({ queryKey: key, queryFn: () => desk.callers(agent) });
  const [name, setName] = useState('');
  const [made, setMade] = useState<{ caller_id: string; token: string } | null>(null);
  const { said, run, busy } = useWork(key);
  const make = (event: React.FormEvent) => {
    event.preventDefault();
    void run(async () => {
      setMade(await desk.addCaller(agent, { name }));
      setName('');
      return '';
    });
  };
  return (
    <section className="part" aria-label="Who may call" aria-busy={busy}>
      <h2>Who may call</h2>
      <p className="said">{WHO[view.card.visibility]}</p>
      <Trouble of={error} />
      {made !== null && (
        <Once text={made.token} called="token">
          The token for this caller, this once. It is sent as Authorization: Bearer.
        </Once>
      )}
      {data !== undefined && data.callers.length > 0 && (
        <ul className="lines">
          {data.callers.map((caller) => (
            <OneCaller
              key={caller.caller_id}
              caller={caller}
              onRevoke={
                isOwner
                  ? () =>
                      void run(async () => {
                        await desk.revokeCaller(agent, caller.caller_id);
                        setMade((last) => (last?.caller_id === caller.caller_id ? null : last));
                        return '';
                      }, caller.caller_id)
                  : null
              }
            />
          ))}
        </ul>
      )}
      {isOwner && (
        <form className="form-line" onSubmit={make}>
          <Field label="A caller from outside" value={name} onText={setName} required maxLength={120} />
          <button type="submit" className="button">
            Make a token
          </button>
        </form>
      )}
      <Trouble of={said} />
    </section>
  );
}

function OneCaller({ caller, onRevoke }: { caller: Caller; onRevoke: (() => void) | null }) {
  const now = useNow();
  const used =
    caller.last_used_at === null ? 'never used' : `last used ${timeAndDay(caller.last_used_at, now)}`;
  const end = caller.expires_at === null ? '' : `, until ${timeAndDay(caller.expires_at, now)}`;
  const isOver = caller.revoked_at !== null;
  return (
    <li data-over={isOver || undefined}>
      <span>
        <Text>{caller.name}</Text>
      </span>{' '}
      <span className="mono">ct_…{caller.last_four}</span>{' '}
      <span className="said">
        made {timeAndDay(caller.created_at, now)}, {used}
        {end}
      </span>
      {!isOver && onRevoke !== null && (
        <Sure word="Revoke" question="Calls with it are refused at once." onSure={onRevoke} />
      )}
    </li>
  );
}
