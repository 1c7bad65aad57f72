import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Agent, Budget, Key } from '../api/types.ts';
import { KeyLine } from '../frame/KeyLine.tsx';
import { Once } from '../frame/Once.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { grouped } from '../words/numbers.ts';
import { timeAndDay } from '../words/time.ts';

type Made = Awaited<ReturnType<typeof desk.addKey>>;

export function Keys({ agent, isOwner }: { agent: Agent; isOwner: boolean }) {
  const [made, setMade] = useState<Made | null>(null);
  const { said, run, busy } = useWork(['agents', agent.agent_id]);
  const now = useNow();
  const make = (tier: string, rotate: boolean) => () =>
    void run(async () => {
      setMade(await desk.addKey(agent.agent_id, { tier, rotate }));
      return '';
    });
  const revoke = (key: string) => () =>
    void run(async () => {
      await desk.revokeKey(agent.agent_id, key);
      setMade((last) => (last?.key_id === key ? null : last));
      return '';
    }, key);
  const live = agent.keys.filter((key) => key.revoked_at === null);
  const tier = live[0]?.tier ?? 'live';
  return (
    <section className="part" aria-label="Keys" aria-busy={busy}>
      <h2>Keys</h2>
      {made !== null && (
        <Once text={made.key} called="key" onKept={() => setMade(null)}>
          The new key, this once.
          {made.others_expire_at === null
            ? ''
            : ` The others work until ${timeAndDay(made.others_expire_at, now)}, so that nothing stops meanwhile.`}
        </Once>
      )}
      <ul className="lines">
        {agent.keys.map((key) => (
          <KeyLine
            key={key.key_id}
            name={`${key.prefix}…${key.last_four}`}
            said={keyWords(key, agent.budgets, now)}
            record={key}
            question="The agent stops at once."
            onRevoke={isOwner ? revoke(key.key_id) : null}
          />
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

/** When the key was made, and how much its agent may still deliver with it. */
function keyWords({ key_id, created_at }: Key, budgets: readonly Budget[] | undefined, now: number): string {
  const made = `made ${timeAndDay(created_at, now)}`;
  const budget = budgets?.find((one) => one.key_id === key_id);
  if (budget === undefined) return made;
  const { per_hour, at_once, left } = budget;
  const rest =
    left >= at_once ? 'all of them left' : left === 0 ? 'none left now' : `${grouped(left)} left now`;
  return `${made}; ${grouped(per_hour)} deliveries an hour, ${grouped(at_once)} at once, ${rest}`;
}
