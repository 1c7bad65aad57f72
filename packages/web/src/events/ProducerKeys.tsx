import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Producer, ProducerKey } from '../api/event-types.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Copied } from '../frame/Copied.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

const KINDS: Record<string, string> = { v1: 'a shared secret', v1a: 'its own public key' };

export function ProducerKeys({ producer, isOwner }: { producer: Producer; isOwner: boolean }) {
  const [made, setMade] = useState<{ secret: string; until: string } | null>(null);
  const [said, setSaid] = useState('');
  const now = useNow();
  const { producer_id: id } = producer;
  const run = async (work: () => Promise<void>) => {
    try {
      await work();
      setSaid('');
      void asking.invalidateQueries({ queryKey: ['producers'] });
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  const rotate = () =>
    run(async () => {
      const { secret = '', others_expire_at: until } = await desk.rotateProducer(id);
      setMade({ secret, until });
    });
  const revoke = (key: string) =>
    run(async () => {
      await desk.revokeProducerKey(id, key);
    });
  return (
    <section className="producer-part" aria-label={`Keys of ${producer.name}`}>
      <h3>Keys</h3>
      {made !== null && (
        <div className="once" role="status">
          <p>
            The new secret, this once. The others work until {timeAndDay(made.until, now)}, so that nothing
            stops meanwhile.
          </p>
          <Copied text={made.secret} label="Copy the secret" />
          <p>
            <button type="button" className="button" onClick={() => setMade(null)}>
              I have kept it
            </button>
          </p>
        </div>
      )}
      {producer.keys.length === 0 && <p>It has no key, so nothing it sends is taken.</p>}
      <ul className="lines">
        {producer.keys.map((key) => (
          <KeyLine key={key.key_id} record={key} now={now} onRevoke={isOwner ? revoke : undefined} />
        ))}
      </ul>
      <Trouble of={said} />
      {isOwner && (
        <p>
          <button type="button" className="button" onClick={() => void rotate()}>
            Rotate, with overlap
          </button>
        </p>
      )}
    </section>
  );
}

function KeyLine({
  record,
  now,
  onRevoke,
}: {
  record: ProducerKey;
  now: number;
  onRevoke: ((key: string) => void) | undefined;
}) {
  const { key_id, revoked_at, expires_at } = record;
  const isOver = revoked_at !== null || (expires_at !== null && Date.parse(expires_at) < now);
  return (
    <li data-over={isOver || undefined}>
      <span className="mono">{key_id}</span>
      <span className="said">
        {KINDS[record.algorithm] ?? record.algorithm}, made {timeAndDay(record.created_at, now)}
      </span>
      {revoked_at !== null && <span className="said">revoked {timeAndDay(revoked_at, now)}</span>}
      {revoked_at === null && expires_at !== null && (
        <span className="said">until {timeAndDay(expires_at, now)}</span>
      )}
      {onRevoke !== undefined && !isOver && (
        <Sure word="Revoke" question="What it signs is refused at once." onSure={() => onRevoke(key_id)} />
      )}
    </li>
  );
}
