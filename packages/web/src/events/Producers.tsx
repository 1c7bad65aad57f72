import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Producer } from '../api/event-types.ts';
import { asking, producersQuery, sessionQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Text } from '../detail/Text.tsx';
import { Field } from '../entry/Field.tsx';
import { Copied } from '../frame/Copied.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { ProducerKeys } from './ProducerKeys.tsx';
import { Refused } from './Refused.tsx';

/** Outside systems that sign what they send. Everybody can see them; owners can change them. */
export function Producers() {
  const { data, error } = useQuery(producersQuery);
  const { data: session } = useQuery(sessionQuery);
  const isOwner = session?.person.role === 'owner';
  return (
    <section className="part" aria-label="Producers">
      <h2>Producers</h2>
      <p className="said">Outside systems that send events. Each signs with its own secret.</p>
      <Trouble of={error} />
      {data?.producers.length === 0 && (
        <p>
          There is no producer yet, so no outside system can send events.
          {isOwner ? ' Make the first one below.' : ' An owner makes the first one.'}
        </p>
      )}
      <ul className="full">
        {data?.producers.map((producer) => (
          <li key={producer.producer_id}>
            <OneProducer producer={producer} isOwner={isOwner} />
          </li>
        ))}
      </ul>
      {isOwner && <NewProducer />}
    </section>
  );
}

function OneProducer({ producer, isOwner }: { producer: Producer; isOwner: boolean }) {
  const [open, setOpen] = useState(false);
  const now = useNow();
  return (
    <details className="producer" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="producer-name">
          <Text>{producer.name}</Text>
        </span>{' '}
        <span className="said">
          {producer.tier === 'test' ? 'test key, ' : ''}
          {producer.last_seen_at === null
            ? 'never seen'
            : `last seen ${timeAndDay(producer.last_seen_at, now)}`}
        </span>
      </summary>
      {open && (
        <div className="producer-inside">
          <p className="said">
            Its id is <span className="mono">{producer.producer_id}</span>; an event names it as
            source.producer_id. Made {timeAndDay(producer.created_at, now)}.
          </p>
          <ProducerKeys producer={producer} isOwner={isOwner} />
          <Refused producer={producer.producer_id} />
        </div>
      )}
    </details>
  );
}

export const NEW_PRODUCER = 'new-producer-name';

/** The secret is shown here once, and kept nowhere. */
function NewProducer() {
  const [name, setName] = useState('');
  const [tier, setTier] = useState('live');
  const [publicKey, setPublicKey] = useState('');
  const [made, setMade] = useState<{ name: string; id: string; secret?: string } | null>(null);
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  const make = async () => {
    const key = publicKey.trim();
    try {
      const { producer_id: id, secret } = await desk.addProducer({
        name: name.trim(),
        tier,
        ...(key === '' ? {} : { public_key: key }),
      });
      setMade({ name: name.trim(), id, ...(secret === undefined ? {} : { secret }) });
      setName('');
      setPublicKey('');
      setSaid('');
    } catch (error) {
      setSaid(calmly(error));
    } finally {
      void asking.invalidateQueries({ queryKey: ['producers'] });
    }
  };
  return (
    <>
      {made !== null && (
        <div className="once" role="status">
          <p>
            <Text>{made.name}</Text> is here, as <span className="mono">{made.id}</span>.{' '}
            {made.secret === undefined
              ? 'It signs with the private half of the key you gave.'
              : 'This is its secret, this once and never again.'}
          </p>
          {made.secret !== undefined && <Copied text={made.secret} label="Copy the secret" />}
          <p>
            <button type="button" className="button" onClick={() => setMade(null)}>
              {made.secret === undefined ? 'Close' : 'I have kept it'}
            </button>
          </p>
        </div>
      )}
      <form
        className="form"
        aria-label="A new producer"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(make);
        }}
      >
        <h3>A new producer</h3>
        <Field
          id={NEW_PRODUCER}
          label="Name"
          value={name}
          onText={setName}
          required
          maxLength={80}
          hint="For example build-server."
        />
        <div className="field">
          <label htmlFor="producer-tier">For</label>
          <select
            id="producer-tier"
            className="input"
            value={tier}
            onChange={(event) => setTier(event.target.value)}
          >
            <option value="live">live: real events</option>
            <option value="test">test: for trying things out</option>
          </select>
        </div>
        <Field
          label="Public key, if it has its own"
          value={publicKey}
          onText={setPublicKey}
          maxLength={100}
          placeholder="whpk_…"
          hint="Leave it empty to be given a secret."
        />
        <Trouble of={said} />
        <button type="submit" className="button strong">
          Make it
        </button>
      </form>
    </>
  );
}
