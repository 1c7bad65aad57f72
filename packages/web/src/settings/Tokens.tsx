import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Field } from '../entry/Field.tsx';
import { Copied } from '../frame/Copied.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** For scripts: they act as this person. */
export function Tokens() {
  const { data } = useQuery({ queryKey: ['tokens'], queryFn: desk.tokens });
  const [name, setName] = useState('');
  const [made, setMade] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const now = useNow();
  const run = async (work: () => Promise<void>) => {
    try {
      await work();
      setSaid('');
      void asking.invalidateQueries({ queryKey: ['tokens'] });
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  const make = (event: React.FormEvent) => {
    event.preventDefault();
    void run(async () => {
      setMade((await desk.addToken(name)).token);
      setName('');
    });
  };
  return (
    <section className="part" aria-label="Tokens for scripts">
      <h2>Tokens for scripts</h2>
      <p className="said">A script with a token can do what you can do. Each is shown once.</p>
      {made !== null && (
        <div className="once">
          <p>The token, this once.</p>
          <Copied text={made} label="Copy the token" />
        </div>
      )}
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
                  })
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
