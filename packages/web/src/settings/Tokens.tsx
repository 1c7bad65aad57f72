import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { Field } from '../entry/Field.tsx';
import { Once } from '../frame/Once.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** Tokens for scripts, which act as this person. */
export function Tokens() {
  const { data, error } = useQuery({ queryKey: ['tokens'], queryFn: desk.tokens });
  const [name, setName] = useState('');
  const [made, setMade] = useState<{ token_id: string; token: string } | null>(null);
  const { said, run, busy } = useWork(['tokens']);
  const now = useNow();
  const make = (event: React.FormEvent) => {
    event.preventDefault();
    void run(async () => {
      setMade(await desk.addToken(name));
      setName('');
      return '';
    });
  };
  return (
    <section className="part" aria-label="Tokens for scripts" aria-busy={busy}>
      <h2>Tokens for scripts</h2>
      <p className="said">A script with a token can do what you can do. Each is shown once.</p>
      {made !== null && (
        <Once text={made.token} called="token">
          The token, this once.
        </Once>
      )}
      <Trouble of={error} />
      <ul className="lines">
        {data?.tokens.map((token) => (
          <li key={token.token_id} data-over={token.revoked_at !== null || undefined}>
            <span>{token.name}</span> <span className="mono">lr_…{token.last_four}</span>{' '}
            <span className="said">made {timeAndDay(token.created_at, now)}</span>
            {token.revoked_at === null && (
              <Sure
                word="Revoke"
                question="Scripts that use it stop at once."
                onSure={() =>
                  void run(async () => {
                    await desk.revokeToken(token.token_id);
                    setMade((last) => (last?.token_id === token.token_id ? null : last));
                    return '';
                  }, token.token_id)
                }
              />
            )}
          </li>
        ))}
      </ul>
      <form className="form-line" onSubmit={make}>
        <Field label="What it is for" value={name} onText={setName} required maxLength={120} />
        <button type="submit" className="button">
          Make a token
        </button>
      </form>
      <Trouble of={said} />
    </section>
  );
}
