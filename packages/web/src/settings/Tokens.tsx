import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { tokensQuery } from '../api/questions.ts';
import { Field } from '../entry/Field.tsx';
import { Once } from '../frame/Once.tsx';
import { Said } from '../frame/Said.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { capital, plural } from '../words/numbers.ts';
import { timeAndDay } from '../words/time.ts';
import { isProofNeeded, ProveDialog } from './ProveDialog.tsx';

/** Tokens for scripts, which act as this person. */
export function Tokens() {
  const { data, error } = useQuery(tokensQuery);
  const [name, setName] = useState('');
  const [made, setMade] = useState<{ token_id: string; token: string } | null>(null);
  const [isProving, setProving] = useState(false);
  const { said, run, busy } = useWork(tokensQuery.queryKey);
  const now = useNow();
  const isOver = data?.tokens.some((token) => token.token_id === made?.token_id && token.revoked_at !== null);
  const make = () =>
    run(async () => {
      try {
        setMade(await desk.addToken(name));
        setName('');
      } catch (error) {
        if (!isProofNeeded(error)) throw error;
        setProving(true);
      }
      return '';
    });
  return (
    <section className="part" aria-label="Tokens for scripts" aria-busy={busy}>
      <h2>Tokens for scripts</h2>
      <p className="said">A script with a token can do what you can do. Each is shown once.</p>
      {made !== null && !isOver && (
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
                    return '';
                  }, token.token_id)
                }
              />
            )}
          </li>
        ))}
      </ul>
      <form
        className="form-line"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <Field label="What it is for" value={name} onText={setName} required maxLength={120} />
        <button type="submit" className="button">
          Make a token
        </button>
      </form>
      <Trouble of={said} />
      {isProving && (
        <ProveDialog
          what="the token"
          onClose={() => setProving(false)}
          onProved={() => {
            setProving(false);
            void make();
          }}
        />
      )}
    </section>
  );
}

/** Shown after a change of password, which scripts outlive. Whoever changed it because it was known ends them too. */
export function TokensThatGoOn() {
  const { data } = useQuery(tokensQuery);
  const { said, run } = useWork(tokensQuery.queryKey);
  const count = data?.tokens.filter((token) => token.revoked_at === null).length ?? 0;
  const end = async () => `${capital(plural((await desk.revokeTokens()).revoked, 'token'))} ended.`;
  return (
    <>
      {count > 0 && (
        <p className="said">
          {capital(plural(count, 'token'))} for scripts {count === 1 ? 'works' : 'work'} as before.{' '}
          <Sure
            word={count === 1 ? 'Revoke it' : 'Revoke them all'}
            question="Scripts with a token stop at once."
            onSure={() => void run(end)}
          />
        </p>
      )}
      <Said>{said}</Said>
    </>
  );
}
