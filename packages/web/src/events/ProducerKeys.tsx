import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Producer } from '../api/event-types.ts';
import { KeyLine } from '../frame/KeyLine.tsx';
import { Once } from '../frame/Once.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

const KINDS: Record<string, string> = { v1: 'a shared secret', v1a: 'its own public key' };

export function ProducerKeys({ producer, isOwner }: { producer: Producer; isOwner: boolean }) {
  const [made, setMade] = useState<{ id: string; secret: string; until: string } | null>(null);
  const { said, run, busy } = useWork(['producers']);
  const now = useNow();
  const { producer_id: id } = producer;
  const rotate = () =>
    run(async () => {
      const { key_id, secret = '', others_expire_at: until } = await desk.rotateProducer(id);
      setMade({ id: key_id, secret, until });
      return '';
    });
  const revoke = (key: string) =>
    run(async () => {
      await desk.revokeProducerKey(id, key);
      setMade((last) => (last?.id === key ? null : last));
      return '';
    }, key);
  return (
    <section className="producer-part" aria-label={`Keys of ${producer.name}`} aria-busy={busy}>
      <h3>Keys</h3>
      {made !== null && (
        <Once text={made.secret} called="secret" onKept={() => setMade(null)}>
          The new secret, this once. The others work until {timeAndDay(made.until, now)}, so that nothing
          stops meanwhile.
        </Once>
      )}
      {producer.keys.length === 0 && <p>It has no key, so nothing it sends is taken.</p>}
      <ul className="lines">
        {producer.keys.map((key) => (
          <KeyLine
            key={key.key_id}
            name={key.key_id}
            said={`${KINDS[key.algorithm] ?? key.algorithm}, made ${timeAndDay(key.created_at, now)}`}
            record={key}
            question="What it signs is refused at once."
            onRevoke={isOwner ? () => void revoke(key.key_id) : null}
          />
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
